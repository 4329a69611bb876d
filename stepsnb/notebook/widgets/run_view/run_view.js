// The live view of one run: draws the state a kernel folds, keeps it current with patches, and sends back what a
// person does. Everything from a model, tool or file becomes a text node; nothing is ever parsed as markup.

const RETRY_ANSWER_MS = 4000; // an answer not taken by then may be given again
const SILENT_MS = 4000; // after this long without a word, the kernel is asked whether it is there
const HELLOS = 10; // as often, once a second, before it is said to be gone
const LOST = "The kernel doesn't answer. If it was killed or restarted, this run was cut: "
  + "`%steps runs` shows it and how to go on.";
const MANY_STEPS = 40; // a block that holds more begins folded
const BOTTOM_PX = 32; // this close to the end, the transcript follows what is new

const MARKS = {
  pending: "·", running: "◐", waiting: "?", succeeded: "✓", failed: "✗", errored: "✗", aborted: "■",
  skipped: "–", reused: "≡", "taken over": "↪",
};
const BAD = ["failed", "errored", "aborted"];
const ACTIVE = ["running", "waiting"];

/** Change `state` in place as `patches` say; the twin of `apply_patches` in Python. */
export function applyPatches(state, patches) {
  for (const { op, path, value } of patches) {
    const last = path[path.length - 1];
    const target = path.slice(0, -1).reduce((found, key) => found[key], state);
    // Several views receive the same message, so none may keep a part of it as its own.
    if (op === "set") target[last] = structuredClone(value);
    else if (op === "push") target[last].push(structuredClone(value));
    else if (op === "append") target[last] += value;
    else throw new Error(`unknown patch operation ${op}`);
  }
}

function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** Set the text of a node, adding to it where it only grew, so that a selection in it survives. */
function setText(node, text) {
  const old = node.firstChild;
  if (old === null) node.append(text);
  else if (!text.startsWith(old.data)) old.data = text;
  else if (text.length > old.data.length) old.appendData(text.slice(old.data.length));
}

function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

const count = (number) => number.toLocaleString("en-US");

function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = String(rest).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

function brief(seconds) {
  if (seconds >= 60) return clock(seconds);
  if (seconds < 0.1) return `${Math.round(seconds * 1000)}ms`;
  return `${seconds < 9.95 ? Number(seconds.toFixed(1)) : Math.round(seconds)}s`;
}

// The entries of a transcript. Each function builds one and returns { el, update(item) }.

function cutLine(view) {
  const line = h("p", { class: "cut", hidden: "" }, "cut here; the rest: ", h("code", {}));
  line.show = (cut) => {
    line.hidden = !cut;
    setText(line.lastChild, `%steps transcript ${view.state.run_id}`);
  };
  return line;
}

/** A `<details>` whose inside is built when it is first opened: a long run has thousands of them. */
function folded(kind, view, parts) {
  const summary = h("summary", { class: "at" });
  const el = h("details", { class: kind }, summary);
  let item = null;
  let pres = null;
  const fill = () => {
    if (!el.open || item === null) return;
    pres ??= parts.map(([field, cut, name]) => {
      const pre = h("pre", { class: field, "aria-label": name, tabindex: "0" });
      const line = cutLine(view);
      el.append(pre, line);
      return { pre, line, field, cut };
    });
    for (const { pre, line, field, cut } of pres) {
      setText(pre, item[field]);
      pre.hidden = !item[field];
      line.show(item[cut]);
    }
  };
  el.addEventListener("toggle", fill);
  return { el, summary, fill: (next) => { item = next; fill(); } };
}

function textItem(view) {
  const text = h("div", { class: "text" });
  const line = cutLine(view);
  return {
    el: h("div", { class: "m" }, text, line),
    update(item) { setText(text, item.text); line.show(item.cut); },
  };
}

function thinkingItem(view) {
  const box = folded("thinking", view, [["text", "cut", "thinking"]]);
  const size = h("span", { class: "r" });
  box.summary.append("thinking ", size);
  return {
    el: box.el,
    update(item) { setText(size, `${count(item.text.length + item.cut)} characters`); box.fill(item); },
  };
}

function messageItem(view) {
  const box = folded("message", view, [["text", "cut", "message"]]);
  const role = h("span", { class: "r first" });
  const line = h("span", { class: "line" });
  box.summary.append(role, " ", line);
  return {
    el: box.el,
    update(item) {
      setText(role, { system: "system message", summary: "summary" }[item.role] ?? "message");
      setText(line, item.text.slice(0, 200).replace(/\s+/g, " "));
      box.fill(item);
    },
  };
}

function toolItem(view) {
  const box = folded("tool", view, [["args", "args_cut", "arguments"], ["result", "result_cut", "result"]]);
  const [tool, summary, facts] = ["name", "line", "r"].map((name) => h("span", { class: name }));
  box.summary.append(tool, " ", summary, " ", facts);
  const inside = new Entries(view);
  return {
    el: h("div", { class: "call" }, box.el, inside.el),
    questions: () => inside.questions(),
    update(item, paths) {
      inside.draw(item.inside, below(paths, "inside"));
      setText(tool, item.tool);
      setText(summary, item.summary);
      const failed = item.status === "failed";
      const words = item.facts || (item.status === "running" ? "running…" : "");
      setText(facts, [failed ? "failed" : "", words].filter(Boolean).join(" · "));
      box.el.classList.toggle("bad", failed);
      box.fill(item);
    },
  };
}

function noteItem() {
  const el = h("p", { tabindex: "-1" });
  return { el, update(item) { el.className = `note ${item.tone}`; setText(el, item.text ?? ""); } };
}

function outputItem(view) {
  const streams = [["stdout", "stdout_cut", "standard output"], ["stderr", "stderr_cut", "standard error"]];
  const box = folded("output", view, streams);
  const [code, facts] = [h("span", {}), h("span", { class: "r" })];
  box.summary.append(code, " ", facts);
  box.el.open = true;
  return {
    el: box.el,
    update(item) {
      setText(code, `exit code ${item.exit_code ?? "unknown"}`);
      setText(facts, item.facts);
      box.el.classList.toggle("bad", item.exit_code !== 0);
      box.fill(item);
    },
  };
}

function artifactItem() {
  const [verb, what, facts] = [h("span", {}), h("code", {}), h("span", { class: "quiet" })];
  return {
    el: h("p", { class: "artifact" }, verb, " ", what, " ", facts),
    update(item) { setText(verb, item.verb); setText(what, item.what); setText(facts, `(${item.facts})`); },
  };
}

function questionItem(view) {
  const asked = h("p", { class: "asked" });
  const choices = h("div", { class: "choices" });
  const [who, left, answer] = [h("span", {}), h("span", {}), h("span", { class: "answer" })];
  const elsewhere = h("span", { hidden: "" }, "also: ", h("code", {}));
  const el = h("div", { class: "question at", role: "group", "aria-label": "Question", tabindex: "-1" },
    asked, choices, h("div", { class: "foot" }, who, left, elsewhere, answer));
  let item = null;
  let timer = null;
  let note = "";
  let reason = null;

  const disable = (disabled) => {
    for (const control of choices.querySelectorAll("button, input")) control.disabled = disabled;
  };
  const reopen = (why) => { clearTimeout(timer); timer = null; note = why; disable(false); };
  const send = (value) => {
    if (!value.trim() || item.status !== "asked" || timer !== null) return;
    view.model.send({ t: "answer", id: item.id, value });
    disable(true);
    note = "sending…";
    timer = setTimeout(() => {
      reopen("not taken yet; try again");
      box.tick();
    }, RETRY_ANSWER_MS);
    box.tick();
  };
  const choice = (value, place) => {
    const isDefault = value === item.default;
    const button = h("button", { type: "button", class: isDefault ? "default" : "" });
    if (place <= 9) {
      button.append(h("kbd", { "aria-hidden": "true" }, String(place)));
      button.setAttribute("aria-keyshortcuts", String(place));
    }
    button.append(value);
    if (isDefault) button.append(" ", h("small", {}, "default"));
    button.addEventListener("click", () => send(reason?.value.trim() ? `${value}: ${reason.value.trim()}` : value));
    return button;
  };
  const build = () => {
    if (item.takes_reason) {
      reason = h("input", {
        type: "text", "aria-label": "Your reason", "data-lm-suppress-shortcuts": "true", autocomplete: "off",
        placeholder: "a reason, if there is one",
      });
    }
    const options = [...item.options];
    if (item.default !== null && !options.includes(item.default)) options.push(item.default);
    choices.append(...options.map((value, index) => choice(value, index + 1)));
    if (reason !== null) choices.append(h("span", { class: "own" }, reason));
    if (item.options_required && item.options.length) return;
    const input = h("input", {
      type: "text", "aria-label": "Your own answer", "data-lm-suppress-shortcuts": "true", autocomplete: "off",
      placeholder: options.length ? "or write an answer" : "write an answer",
    });
    const button = h("button", { type: "button" }, "Send");
    button.addEventListener("click", () => send(input.value));
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) send(input.value);
    });
    choices.append(h("span", { class: "own" }, input, button));
  };

  const box = {
    el,
    choose: (place) => choices.querySelectorAll("button[aria-keyshortcuts]")[place - 1]?.click(),
    isOpen: () => item !== null && item.status === "asked",
    setLost: (isLost) => { if (isLost) reopen(""); disable(isLost); box.tick(); },
    tick() {
      const seconds = item.expires_at === null ? null : item.expires_at - view.now();
      const then = item.default === null ? "the run stops" : `“${item.default}”`;
      const wait = seconds === null ? "" : seconds > 0 ? `${clock(seconds)} left, then ${then}` : "time is up";
      setText(left, box.isOpen() && !view.isLost ? note || wait : "");
    },
    update(next) {
      const isNew = item === null;
      item = next;
      if (isNew) build();
      else if (timer !== null) reopen("");
      setText(asked, item.text);
      setText(who, item.agent ? `asked by ${item.agent}` : "");
      el.classList.toggle("settled", !box.isOpen());
      choices.hidden = !box.isOpen();
      elsewhere.hidden = !box.isOpen();
      setText(elsewhere.lastChild, `%steps answer ${item.id} …`);
      const given = `answer: ${item.answer}${item.by ? ` (${item.by})` : ""}`;
      const words = { asked: "", expired: "nobody answered", answered: given };
      setText(answer, words[item.status] ?? "not answered");
      box.tick();
      if (isNew && box.isOpen()) view.announce(`${item.agent || "The run"} asks: ${item.text}`);
    },
  };
  return box;
}

/** A sub-agent's conversation, beside the call it answers. */
function subAgentItem(view) {
  const [who, usage] = [h("span", { class: "who" }), h("span", { class: "r n" })];
  const entries = new Entries(view);
  const ending = new Ending(view);
  const el = h("details", { class: "sub-agent", open: "" }, h("summary", { class: "at" }, who, " ", usage),
    entries.el, ending.el);
  return {
    el,
    questions: () => entries.questions(),
    update(item, paths) {
      setText(who, [`${item.name}, asked by ${item.asked_by}`, item.model].filter(Boolean).join(" · "));
      const state = item.status === "succeeded" ? "" : ACTIVE.includes(item.status) ? "working…" : item.status;
      setText(usage, [state, item.usage].filter(Boolean).join(" · "));
      el.classList.toggle("bad", BAD.includes(item.status));
      entries.draw(item.items, below(paths, "items"));
      entries.drawCursor(item.items, item.status === "running");
      ending.draw(item);
    },
  };
}

const ITEMS = {
  text: textItem, thinking: thinkingItem, message: messageItem, tool: toolItem, note: noteItem, output: outputItem,
  artifact: artifactItem, question: questionItem, sub_agent: subAgentItem,
};

/** Of the paths of patches, the rests of those that lead into the list `name`; null (everything) stays null. */
function below(paths, name) {
  return paths?.filter((path) => path[0] === name && path.length > 1).map((path) => path.slice(1)) ?? null;
}

/** The entries of a step or of a sub-agent's conversation. */
class Entries {
  constructor(view) {
    this.view = view;
    this.items = [];
    this.cursor = null;
    this.el = h("div", { class: "items" });
  }

  /** Draw what is new, and the entries that `paths` begin with; every entry when they are null. */
  draw(list, paths = null) {
    const touched = new Map();
    for (const [place, ...rest] of paths ?? list.map((_, place) => [place])) {
      if (place >= this.items.length) continue;
      if (!touched.has(place)) touched.set(place, []);
      touched.get(place).push(rest);
    }
    for (const [place, rests] of touched) this.items[place].update(list[place], paths === null ? null : rests);
    while (this.items.length < list.length) {
      const item = list[this.items.length];
      const made = (ITEMS[item.kind] ?? noteItem)(this.view);
      this.items.push(made);
      this.el.append(made.el);
      made.update(item, null);
    }
  }

  /** Show where text is being written: at the end of the last entry, if that is a text. */
  drawCursor(list, isRunning) {
    const last = this.items[this.items.length - 1]?.el ?? null;
    if (this.cursor !== last) this.cursor?.classList.remove("writing");
    this.cursor = last;
    this.cursor?.classList.toggle("writing", isRunning && list[list.length - 1].kind === "text");
  }

  /** The questions in it that wait for an answer, also those of sub-agents. */
  questions() {
    return this.items.flatMap((item) => item.questions?.() ?? (item.isOpen?.() ? [item] : []));
  }
}

/** What a step or a sub-agent's conversation came to: its verdict, its typed output, and why it failed. */
class Ending {
  constructor(view) {
    this.word = h("b", {});
    this.said = h("span", {});
    this.verdict = h("p", { class: "verdict", hidden: "" }, this.word, " ", this.said);
    this.output = folded("typed", view, [["output", "output_cut", "output"]]);
    this.output.summary.append("output");
    this.output.el.open = true;
    this.output.el.hidden = true;
    this.reason = h("p", { class: "note problem", tabindex: "-1", hidden: "" });
    this.el = h("div", { class: "ending" }, this.verdict, this.output.el, this.reason);
  }

  draw(step) {
    this.verdict.hidden = !(step.verdict || step.note);
    setText(this.word, step.verdict ?? "note");
    setText(this.said, step.note ?? "");
    this.output.el.hidden = step.output === null;
    if (step.output !== null) this.output.fill(step);
    const bad = BAD.includes(step.status);
    const isTaken = step.status === "taken over";
    this.reason.hidden = !bad && !isTaken;
    this.reason.className = bad ? "note problem" : "note info";
    setText(this.reason, isTaken ? step.reason : bad ? `${step.status}${step.reason ? `: ${step.reason}` : ""}` : "");
  }
}

/** One step's part of the transcript: who speaks, how full its context is, and its entries. */
class StepSection {
  constructor(view) {
    this.entries = new Entries(view);
    this.ending = new Ending(view);
    this.who = h("span", {});
    const caret = h("span", { class: "caret", "aria-hidden": "true" });
    this.toggle = h("button", { type: "button", class: "who at", "aria-expanded": "true" }, caret, this.who);
    this.toggle.addEventListener("click", () => this.expand(this.entries.el.hidden));
    [this.fill, this.strike] = [h("i", {}), h("u", { hidden: "" })];
    const meter = { class: "bar", role: "meter", "aria-label": "context used", "aria-valuemin": "0" };
    this.bar = h("span", meter, this.fill, this.strike);
    this.figures = h("span", { class: "n" });
    const label = h("span", { "aria-hidden": "true" }, "context");
    this.context = h("span", { class: "context", hidden: "" }, label, this.bar, this.figures);
    this.warning = h("span", { class: "warning", hidden: "" });
    const head = h("div", { class: "head" }, this.toggle, this.context, this.warning);
    this.el = h("section", { class: "step", hidden: "" }, head, this.entries.el, this.ending.el);
  }

  get reason() {
    return this.ending.reason;
  }

  expand(open) {
    this.entries.el.hidden = !open;
    this.toggle.setAttribute("aria-expanded", String(open));
  }

  /** Draw what `paths` name below the step, and its head; the whole step when they are null. */
  draw(step, paths = null) {
    this.entries.draw(step.items, below(paths, "items"));
    this.entries.drawCursor(step.items, step.status === "running");
    this.ending.draw(step);
    const isAgent = step.agent !== null;
    this.el.hidden = !(step.items.length || isAgent || step.reason) || step.status === "pending";
    setAttribute(this.el, "aria-label", `Step ${step.name}`);
    const agent = isAgent && step.agent !== step.name ? `${step.name} (${step.agent})` : step.name;
    setText(this.who, [agent, step.model].filter(Boolean).join(" · "));
    this.warning.hidden = step.context_warning === null;
    setText(this.warning, step.context_warning ?? "");
    this.drawContext(step.context);
  }

  drawContext(context) {
    this.context.hidden = context === null;
    if (context === null) return;
    const { used, total, compact_at: compactAt } = context;
    const share = total ? Math.min(100, (100 * used) / total) : 0;
    const figures = total ? `${count(used)} of ${count(total)}` : `${count(used)} tokens`;
    const strike = compactAt ? `, summarised at ${count(compactAt)}` : "";
    this.bar.hidden = !total;
    setAttribute(this.bar, "aria-valuemax", String(total ?? used));
    setAttribute(this.bar, "aria-valuenow", String(used));
    setAttribute(this.bar, "aria-valuetext", `${figures}${total ? " tokens" : ""}${strike}`);
    this.bar.classList.toggle("full", share >= 90);
    this.fill.style.width = `${share}%`;
    this.strike.hidden = !(total && compactAt);
    if (total && compactAt) {
      this.strike.style.left = `${Math.min(100, (100 * compactAt) / total)}%`;
      setAttribute(this.strike, "title", `compaction at ${Math.round((100 * compactAt) / total)} %`);
    }
    setText(this.figures, total ? figures : `${figures}${strike}`);
  }
}

/** One row of the plan. */
/** How many of the steps in a block ended well, went wrong, are under way and are to come, in words. */
function countWords(children) {
  const words = { passed: ["succeeded", "reused", "taken over"], failed: BAD, running: ACTIVE, "to come": ["pending"] };
  const counted = Object.entries(words).map(([word, of]) => [children.filter((c) => of.includes(c.status)).length, word]);
  return counted.filter(([number]) => number).map(([number, word]) => `${number} ${word}`).join(", ");
}

class PlanRow {
  constructor(view, index) {
    this.isFolded = null; // until somebody says so: by how many steps there are
    this.fold = h("button", { type: "button", class: "fold", hidden: "" }, h("span", { class: "caret", "aria-hidden": "true" }));
    this.fold.addEventListener("click", () => { this.setFolded(!this.isFolded); view.drawPlan(); });
    this.mark = h("span", { class: "mark", "aria-hidden": "true" });
    this.name = h("span", { class: "name" });
    this.detail = h("span", { class: "detail" });
    this.said = h("span", { class: "unseen" });
    this.button = h("button", { type: "button", class: "row" }, this.mark, this.name, this.said, this.detail);
    this.button.addEventListener("click", () => view.goTo(index));
    this.el = h("li", {}, this.fold, this.button);
  }

  setFolded(isFolded) {
    this.isFolded = isFolded;
    setAttribute(this.fold, "aria-expanded", String(!isFolded));
  }

  draw(step, depth, children, view) {
    this.fold.hidden = !children.length;
    if (children.length && this.isFolded === null) this.setFolded(children.length > MANY_STEPS);
    setAttribute(this.fold, "aria-label", `steps in ${step.name}`);
    this.fold.style.insetInlineStart = `${18 * depth - 4}px`;
    const active = ACTIVE.includes(step.status);
    this.el.className = `${step.status.replace(" ", "-")}${active ? " on" : ""}`;
    this.button.style.paddingInlineStart = `${12 + 18 * depth}px`;
    if (active) setAttribute(this.button, "aria-current", "step");
    else this.button.removeAttribute("aria-current");
    setText(this.mark, MARKS[step.status] ?? "·");
    setText(this.name, step.name);
    setText(this.said, `, ${step.status}`);
    setText(this.detail, this.words(step, children, view));
  }

  words(step, children, view) {
    if (children.length && this.isFolded) return countWords(children);
    if (ACTIVE.includes(step.status)) {
      if (step.agent !== null && step.turn) return `turn ${step.turn}`;
      return step.started_at ? clock(view.now() - step.started_at) : "";
    }
    if (step.status === "taken over") return [step.verdict, step.status].filter(Boolean).join(" · ");
    if (children.length) return countWords(children);
    if (["skipped", "reused", ...BAD].includes(step.status)) return step.status;
    return step.verdict ?? (step.duration_s === null ? "" : brief(step.duration_s));
  }
}

class View {
  constructor(model, el) {
    this.model = model;
    this.state = null;
    this.n = -1;
    this.skew = 0;
    this.isStopping = false;
    this.isLost = false;
    this.heardAt = Date.now();
    this.unanswered = 0;
    this.build(el);
    this.onMessage = (message) => this.receive(message);
    model.on("msg:custom", this.onMessage);
    this.timer = setInterval(() => { this.watch(); this.tick(); }, 1000);
    model.send({ t: "view" });
  }

  close() {
    clearInterval(this.timer);
    window.removeEventListener("keydown", this.beforeKey, true);
    this.model.off("msg:custom", this.onMessage);
  }

  build(el) {
    this.job = h("b", {});
    this.status = h("span", { class: "status", role: "status" });
    const figures = ["elapsed", "tokens", "cost"].map((name) => h("span", { class: `n ${name}` }));
    [this.elapsed, this.tokens, this.cost] = figures;
    this.stop = h("button", { type: "button", "aria-keyshortcuts": "s" }, "Stop");
    this.stop.addEventListener("click", () => this.sendStop());
    this.error = h("p", { class: "error", role: "alert", hidden: "" });
    this.plan = h("ul", {});
    this.sections = h("div", { class: "pane", role: "region", "aria-label": "Transcript", tabindex: "0" });
    this.sections.addEventListener("scroll", () => this.drawJump());
    this.jump = h("button", { type: "button", class: "jump", hidden: "" }, "↓ newest");
    this.jump.addEventListener("click", () => this.toBottom());
    this.spoken = h("div", { class: "unseen", "aria-live": "polite" });
    const gap = h("span", { class: "gap" });
    this.root = h("section", { class: "stepsnb-run", tabindex: "-1", "aria-label": "Run" },
      h("header", {}, this.job, this.status, this.elapsed, this.tokens, this.cost, gap, this.stop),
      this.error,
      h("div", { class: "grid" },
        h("nav", { "aria-label": "Plan" }, this.plan),
        h("div", { class: "main" }, this.sections, this.jump)),
      this.spoken);
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    // Notebook 7 takes keys on their way down, before they are here, unless what has the focus says this itself.
    this.beforeKey = (event) => {
      if (!this.root.contains(event.target)) return;
      event.target.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey || event.altKey));
    };
    window.addEventListener("keydown", this.beforeKey, true);
    setText(this.status, "connecting…");
    el.classList.add("stepsnb-place");
    el.append(this.root);
  }

  // What the kernel says

  receive(message) {
    this.heardAt = Date.now();
    this.unanswered = 0;
    if (this.isLost) this.setLost(false);
    if (message.t === "state") {
      this.skew = message.now - Date.now() / 1000;
      if (this.state !== null && message.n === this.n) return; // meant for another view of this run
      this.state = structuredClone(message.state);
      this.n = message.n;
      this.drawAll();
    } else if (message.t === "patch" && this.state !== null) {
      if (message.n <= this.n) return;
      if (message.n > this.n + 1) { this.model.send({ t: "view" }); return; } // one was lost on the way
      this.n = message.n;
      this.change(message.patches);
    }
  }

  /** Notice when the kernel is gone: nothing tells a view, its messages just stop. */
  watch() {
    if (this.state !== null && this.isOver) return;
    if (Date.now() - this.heardAt < SILENT_MS) return;
    // Counted and not timed: a computer that slept has heard nothing for long, and asked nobody.
    if (this.unanswered >= HELLOS && !this.isLost) this.setLost(true);
    this.unanswered += 1;
    this.sayHello();
  }

  /** A front end meets a kernel that is gone with an error of its own kind; the silence tells enough. */
  sayHello() {
    try {
      Promise.resolve(this.model.send({ t: "hello" })).catch(() => {});
    } catch (error) {
      console.debug("stepsnb: no way to the kernel", error);
    }
  }

  setLost(isLost) {
    this.isLost = isLost;
    this.root.classList.toggle("lost", isLost);
    this.questions().forEach((question) => question.setLost(isLost));
    if (this.state !== null) this.drawFrame();
    else setText(this.status, isLost ? "the kernel doesn't answer" : "connecting…");
  }

  change(patches) {
    applyPatches(this.state, patches);
    const steps = new Map();
    for (const { path } of patches) {
      if (path[0] !== "steps" || path.length < 2) continue;
      if (!steps.has(path[1])) steps.set(path[1], []);
      steps.get(path[1]).push(path.slice(2));
    }
    this.keepingPlace(() => {
      while (this.steps.length < this.state.steps.length) this.addStep();
      for (const [index, paths] of steps) {
        this.steps[index].draw(this.state.steps[index], paths);
        // The transcript is in the order of time: a step stands last when it has its turn.
        if (paths.some(([field]) => field === "began")) this.sections.append(this.steps[index].el);
      }
    });
    this.drawFrame();
  }

  // Drawing

  drawAll() {
    this.steps = [];
    this.rows = [];
    this.sections.replaceChildren();
    this.plan.replaceChildren();
    this.state.steps.forEach(() => this.addStep());
    this.inOrderOfTime().forEach((index) => this.sections.append(this.steps[index].el));
    this.drawFrame();
    this.toBottom();
  }

  get isOver() {
    return this.state.outcome !== null || this.state.forked_to !== null;
  }

  /** The steps that had their turn, as they had it. */
  inOrderOfTime() {
    const { steps } = this.state;
    return [...steps.keys()].filter((index) => steps[index].began !== null)
      .sort((one, other) => steps[one].began - steps[other].began);
  }

  addStep() {
    const section = new StepSection(this);
    this.sections.append(section.el);
    section.draw(this.state.steps[this.steps.length]);
    this.steps.push(section);
  }

  drawFrame() {
    const { state } = this;
    setAttribute(this.root, "aria-label", state.job ? `Run of job ${state.job}` : "Run");
    setText(this.job, state.job || "run");
    const status = this.isStopping && !this.isOver ? "stopping…" : state.status;
    setText(this.status, this.isLost ? "the kernel doesn't answer" : status);
    const phase = this.isOver ? "left" : this.isStopping || this.isLost ? "stopping" : "running";
    this.status.className = `status ${state.outcome ?? phase}`;
    const cached = state.cached_percent ? ` · ${state.cached_percent}% cached` : "";
    setText(this.tokens, state.tokens ? `${count(state.tokens)} tokens${cached}` : "");
    setText(this.cost, state.cost);
    this.stop.hidden = this.isOver;
    this.stop.disabled = this.isStopping || this.isLost;
    const error = this.isLost ? LOST : state.error;
    this.error.hidden = !error;
    setText(this.error, error ?? "");
    this.drawPlan();
    this.drawJump();
    this.tick();
  }

  drawPlan() {
    const { steps } = this.state;
    while (this.rows.length < steps.length) this.rows.push(new PlanRow(this, this.rows.length));
    const children = steps.map(() => []);
    const again = steps.map(() => []);
    const roots = [];
    steps.forEach((step, index) => {
      if (step.visit_of !== null) again[step.visit_of].push(index);
      else (step.parent === null ? roots : children[step.parent]).push(index);
    });
    let place = 0;
    const walk = (index, depth) => {
      const row = this.rows[index];
      if (this.plan.children[place] !== row.el) this.plan.insertBefore(row.el, this.plan.children[place] ?? null);
      place += 1;
      row.draw(steps[index], depth, children[index].map((child) => steps[child]), this);
      row.button.disabled = this.steps[index].el.hidden;
      if (!row.isFolded) children[index].forEach((child) => walk(child, depth + 1));
      again[index].forEach((visit) => walk(visit, depth));
    };
    roots.forEach((index) => walk(index, 0));
    while (this.plan.children.length > place) this.plan.lastChild.remove(); // what a folded block holds
    this.childrenOf = (index) => children[index].map((child) => steps[child]);
  }

  now() {
    return Date.now() / 1000 + this.skew;
  }

  tick() {
    const { state } = this;
    if (state === null) return;
    const elapsed = state.duration_s ?? (state.started_at === null ? null : this.now() - state.started_at);
    setText(this.elapsed, elapsed === null ? "" : clock(elapsed));
    if (this.isOver) return;
    state.steps.forEach((step, index) => {
      if (!ACTIVE.includes(step.status)) return;
      setText(this.rows[index].detail, this.rows[index].words(step, this.childrenOf(index), this));
    });
    this.questions().forEach((question) => question.tick());
  }

  /** Draw, and stay at the end of the transcript if the reader was there; else leave them where they read. */
  keepingPlace(draw) {
    const wasAtBottom = this.isAtBottom();
    draw();
    if (wasAtBottom) this.toBottom();
  }

  isAtBottom() {
    const { scrollHeight, scrollTop, clientHeight } = this.sections;
    return scrollHeight - scrollTop - clientHeight < BOTTOM_PX;
  }

  toBottom() {
    this.sections.scrollTop = this.sections.scrollHeight;
  }

  drawJump() {
    if (this.state === null) return;
    this.jump.hidden = this.isAtBottom();
    setText(this.jump, this.questions().length ? "↓ question" : "↓ newest");
  }

  announce(text) {
    setText(this.spoken, text);
  }

  // What a person does

  sendStop() {
    if (this.isStopping || this.isLost || (this.state !== null && this.isOver)) return;
    this.isStopping = true;
    this.model.send({ t: "stop" });
    if (this.state !== null) this.drawFrame();
  }

  questions() {
    return this.steps.flatMap((section) => section.entries.questions());
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter")) return;
    if (event.key === "Tab") return;
    // A plain key typed here is meant for the view: Jupyter would cut cells with `x` or `d d`, or edit with Enter.
    event.stopPropagation();
    const isTyping = event.target.matches("input, textarea, select");
    if (event.key === "Escape" && isTyping) this.root.focus({ preventScroll: true });
    if (isTyping || this.state === null) return;
    const { key, repeat } = event;
    if (key === "j" || key === "k") this.move(key === "j" ? 1 : -1);
    else if (repeat) return;
    else if (key === "e" || key === "c") this.expand(key === "e");
    else if (key === "f") this.toFailure();
    else if (key === "s") this.sendStop();
    else if (/^[1-9]$/.test(key)) this.chooseOption(Number(key));
    else return; // Enter among them: what has the focus is a button or a summary, and opens or acts by itself
    event.preventDefault();
  }

  chooseOption(place) {
    const open = this.questions();
    (open.find((question) => question.el.contains(document.activeElement)) ?? open[0])?.choose(place);
  }

  places() {
    return [...this.sections.querySelectorAll(".at")].filter((place) => place.offsetParent !== null);
  }

  here() {
    return this.root.getRootNode().activeElement?.closest(".at, .question") ?? null;
  }

  move(by) {
    const places = this.places();
    const at = places.indexOf(this.here());
    const next = at < 0 ? (by > 0 ? 0 : places.length - 1) : Math.min(places.length - 1, Math.max(0, at + by));
    this.show(places[next]);
  }

  show(place) {
    if (place === undefined || place === null) return;
    place.focus({ preventScroll: true });
    place.scrollIntoView({ block: "nearest" });
  }

  /** Open or close what has the focus; everything when nothing that folds has it. */
  expand(open) {
    const here = this.here();
    const row = this.rows.find(({ el, fold }) => !fold.hidden && el.contains(this.root.getRootNode().activeElement));
    if (row !== undefined) {
      row.setFolded(!open);
      this.drawPlan();
    } else if (here?.matches("summary")) here.parentElement.open = open;
    else if (here?.matches(".who")) this.steps.find((section) => section.toggle === here).expand(open);
    else this.sections.querySelectorAll("details").forEach((details) => { details.open = open; });
  }

  toFailure() {
    // Why the last step that failed did; while none has, the last thing that went wrong anywhere.
    const section = this.steps[this.inOrderOfTime().findLast((index) => BAD.includes(this.state.steps[index].status))];
    const problems = this.sections.querySelectorAll("details.bad > summary, .note.problem:not([hidden])");
    const place = section?.reason ?? [...problems].pop();
    if (place === undefined) {
      this.announce("nothing failed");
      return;
    }
    this.steps.find((step) => step.el.contains(place)).expand(true);
    for (let box = place.closest("details"); box !== null; box = box.parentElement.closest("details")) box.open = true;
    this.show(place);
  }

  goTo(index) {
    const { el, toggle } = this.steps[index];
    this.sections.scrollTop += el.getBoundingClientRect().top - this.sections.getBoundingClientRect().top;
    toggle.focus({ preventScroll: true });
  }
}

/** Runs when the comm opens, with or without a view: proves that this front end can talk back. */
function initialize({ model }) {
  const onMessage = (message) => { if (message.t === "ping") model.send({ t: "pong" }); };
  model.on("msg:custom", onMessage);
  model.send({ t: "ready" });
  return () => model.off("msg:custom", onMessage);
}

function render({ model, el }) {
  const view = new View(model, el);
  return () => view.close();
}

export default { initialize, render };
