// Controls below a cell: a loaded pipeline (its plan as a graph, inputs, buttons), files to pick from, or open
// questions. Everything that comes from a pipeline or a model becomes a text node; nothing is parsed as markup.

const MARKS = {
  running: "◐", waiting: "?", succeeded: "✓", failed: "✗", errored: "✗", aborted: "■", skipped: "–", reused: "≡",
  "taken over": "↪",
};
const SILENT_MS = 4000; // a click that nothing answers for so long reached no kernel
const LOST = "The kernel doesn't answer; the controls end with it. Run the cell again.";
const SVG = "http://www.w3.org/2000/svg";

function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

function button(text, onClick, { disabled = false, main = false } = {}) {
  const node = h("button", { type: "button", ...(main ? { class: "main" } : {}) }, text);
  node.disabled = disabled;
  node.addEventListener("click", onClick);
  return node;
}

// The graph: lists within lists, as the steps stand within blocks, and a curve for each way back or ahead.

function graph(steps, statuses) {
  const top = h("ol", { class: "in-order" });
  const lists = [top];
  const boxes = [];
  steps.forEach((step, index) => {
    lists.length = step.depth + 1;
    const status = statuses[step.name];
    const name = h("span", { class: "name" }, step.title);
    const box = h("div", { class: "box" }, name);
    if (status) {
      box.classList.add(status.replace(" ", "-"));
      box.prepend(h("span", { class: "mark", "aria-hidden": "true" }, MARKS[status] ?? "·"));
      box.append(h("span", { class: "unseen" }, `, ${status}`));
    }
    if (step.facts) box.append(h("span", { class: "facts" }, step.facts));
    for (const route of step.routes) box.append(h("span", { class: "route" }, `${route.on} → ${route.to}`));
    const item = h("li", {}, box);
    lists[step.depth].append(item);
    boxes.push({ step, box, list: lists[step.depth] });
    if (index + 1 < steps.length && steps[index + 1].depth > step.depth) {
      const inside = step.in_order ? h("ol", { class: "in-order" }) : h("ul", { class: "side-by-side" });
      item.append(h("div", { class: "block" }, box, inside));
      lists.push(inside);
    }
  });
  const lines = document.createElementNS(SVG, "svg");
  lines.setAttribute("aria-hidden", "true");
  const el = h("div", { class: "graph", role: "group", "aria-label": "plan" }, top, lines);
  const draw = () => drawRoutes(el, lines, boxes);
  const observer = new ResizeObserver(draw);
  observer.observe(el);
  return { el, close: () => observer.disconnect() };
}

function drawRoutes(el, lines, boxes) {
  const frame = el.getBoundingClientRect();
  lines.setAttribute("viewBox", `0 0 ${frame.width} ${el.scrollHeight}`);
  lines.setAttribute("width", frame.width);
  lines.setAttribute("height", el.scrollHeight);
  lines.replaceChildren();
  let lane = 0;
  for (const from of boxes) {
    for (const route of from.step.routes) {
      const to = boxes.find((other) => other.list === from.list && other.step.name === route.to);
      if (to === undefined) continue;
      const [start, end] = [from.box, to.box].map((box) => box.getBoundingClientRect());
      const [x1, x2] = [start.right - frame.left, end.right - frame.left];
      const [y1, y2] = [start, end].map((box) => box.top + box.height / 2 - frame.top);
      const x = Math.min(Math.max(x1, x2) + 22 + 9 * (lane % 5), frame.width - 2);
      lane += 1;
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", `M${x1} ${y1} C${x} ${y1} ${x} ${y2} ${x2 + 5} ${y2} m5 -4 l-6 4 l6 4`);
      lines.append(path);
    }
  }
}

// Each kind of panel is a function of the state; it returns its parts, and what is to be undone before the next.

function pipelinePanel(state, send, kept) {
  const job = state.jobs.find((each) => each.name === (kept.job ?? state.job)) ?? state.jobs[0];
  const drawn = graph(job.steps, state.statuses);
  const inputs = state.vars.map((each) => {
    const long = each.value.includes("\n");
    const input = h(long ? "textarea" : "input", { spellcheck: "false", ...(long ? { rows: "4" } : { type: "text" }) });
    input.value = kept.vars[each.name] ?? each.value;
    input.disabled = !each.editable || state.busy;
    input.placeholder = each.editable ? "needs a value" : "";
    input.addEventListener("input", () => { kept.vars[each.name] = input.value; });
    return h("label", {}, h("code", {}, `((${each.name}))`), input);
  });
  const act = (t) => () => {
    const vars = Object.fromEntries(state.vars.filter((each) => each.editable)
      .map((each) => [each.name, kept.vars[each.name] ?? each.value]).filter(([, value]) => value !== ""));
    send({ t, job: job.name, vars });
  };
  let jobs = null;
  if (state.jobs.length > 1) {
    const select = h("select", {}, ...state.jobs.map((each) => h("option", { value: each.name }, each.name)));
    select.value = job.name;
    select.disabled = state.busy;
    select.addEventListener("change", () => { kept.job = select.value; kept.redraw(); });
    jobs = h("label", {}, "job ", select);
  }
  const follows = job.steps.find((step) => step.name === state.next);
  const next = follows ? `Next: ${follows.title}` : "Next";
  return {
    parts: [
      h("div", { class: "head" }, h("b", {}, state.title), jobs),
      drawn.el,
      inputs.length ? h("div", { class: "vars" }, ...inputs) : null,
      h("div", { class: "buttons" },
        button("Run", act("run"), { disabled: state.busy, main: true }),
        button(next, act("next"), { disabled: state.busy }),
        button("Stop", () => send({ t: "stop" }), { disabled: !state.busy })),
    ],
    close: drawn.close,
  };
}

function pickerPanel(state, send) {
  const files = state.files.map((file) => h("li", {}, button(file, () => send({ t: "pick", file }))));
  const none = h("p", {}, "There is no pipeline here. Pipelines are .yml or .yaml files with `jobs:`.");
  return { parts: [
    h("div", { class: "head" }, h("b", {}, "Pick a pipeline")),
    files.length ? h("ul", { class: "files" }, ...files) : none,
    h("div", { class: "buttons" }, button("Look again", () => send({ t: "refresh" }))),
  ] };
}

function inboxPanel(state, send, kept) {
  const questions = state.questions.map((each) => {
    const reply = (answer) => send({ t: "answer", id: each.id, ...answer });
    const options = each.options.map((option, index) => button(option, () => reply({ option: index, text: kept.vars[each.id] ?? "" })));
    const item = h("li", {}, h("p", { class: "asked" }, h("b", {}, each.asked_by), " ", each.text),
      h("p", { class: "facts" }, each.facts));
    if (options.length) item.append(h("div", { class: "buttons" }, ...options));
    if (each.takes_text) {
      const what = each.is_approval ? "Reason" : "Your own answer";
      const input = h("input", { type: "text", "aria-label": `${what}: ${each.text}`, placeholder: what });
      input.value = kept.vars[each.id] ?? "";
      input.addEventListener("input", () => { kept.vars[each.id] = input.value; });
      const line = h("form", { class: "buttons" }, input);
      if (!each.is_approval) line.append(h("button", { type: "submit" }, "Answer"));
      line.addEventListener("submit", (event) => {
        event.preventDefault();
        if (!each.is_approval && input.value.trim()) reply({ text: input.value });
      });
      item.append(line);
    }
    return item;
  });
  const none = h("p", {}, "Nothing waits for an answer.");
  return { parts: [
    h("div", { class: "head" }, h("b", {}, questions.length === 1 ? "1 open question" : `${questions.length} open questions`)),
    questions.length ? h("ul", { class: "questions" }, ...questions) : none,
    h("div", { class: "buttons" }, button("Look again", () => send({ t: "refresh" }))),
  ] };
}

const KINDS = { pipeline: pipelinePanel, picker: pickerPanel, inbox: inboxPanel };

function render({ model, el }) {
  const root = h("div", { class: "stepsnb-panel", role: "group", "aria-label": "stepsnb controls" });
  const body = h("div", {});
  const said = h("p", { class: "said", role: "status", hidden: "" });
  root.append(body, said);
  el.append(root);
  // What a person has typed or chosen outlives a redraw.
  const kept = { vars: {}, job: undefined, redraw: () => draw() };
  let state = null;
  let drawn = null;

  let silent = null;

  function send(message) {
    clearTimeout(silent);
    silent = setTimeout(() => say(LOST, true), SILENT_MS);
    model.send(message); // throws where the front end knows that the kernel has gone
  }

  function say(text, isBad) {
    said.hidden = !text;
    said.classList.toggle("bad", isBad);
    if (said.textContent !== text) said.textContent = text;
  }

  function draw() {
    const focused = [...root.querySelectorAll("button, input, textarea, select")].indexOf(document.activeElement);
    drawn?.close?.();
    drawn = KINDS[state.kind](state, send, kept);
    body.replaceChildren(...drawn.parts.filter((part) => part !== null));
    say(state.message ?? "", Boolean(state.is_error));
    if (focused >= 0) root.querySelectorAll("button, input, textarea, select")[focused]?.focus();
  }

  function receive(message) {
    if (message?.t !== "state") return;
    clearTimeout(silent);
    if (said.textContent === LOST) say("", false);
    if (state !== null && JSON.stringify(state) === JSON.stringify(message.state)) return;
    if (state?.kind !== message.state.kind) Object.assign(kept, { vars: {}, job: undefined });
    state = message.state;
    draw();
  }

  // Notebook 7 takes keys on their way down, before they are here, unless what has the focus says this itself.
  const beforeKey = (event) => {
    if (!root.contains(event.target)) return;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !(event.ctrlKey || event.metaKey || event.altKey));
  };
  window.addEventListener("keydown", beforeKey, true);
  model.on("msg:custom", receive);
  root.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey || event.altKey)) event.stopPropagation(); // typing is no command
  });
  model.send({ t: "view" });
  return () => { window.removeEventListener("keydown", beforeKey, true); model.off("msg:custom", receive); clearTimeout(silent); drawn?.close?.(); };
}

function initialize({ model }) {
  // Proof, for each ping, that messages from here reach the kernel.
  const receive = (message) => { if (message?.t === "ping") model.send({ t: "pong" }); };
  model.on("msg:custom", receive);
  model.send({ t: "ready" });
  return () => model.off("msg:custom", receive);
}

export default { initialize, render };
