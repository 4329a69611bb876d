"""Where `tests/prepare.py` puts axe-core, which checks pages for accessibility, and how a test runs it."""

from typing import Any

from platformdirs import user_cache_path
from playwright.sync_api import Page

AXE_FOLDER = user_cache_path("stepsnb") / "test-axe"
AXE = AXE_FOLDER / "node_modules" / "axe-core" / "axe.min.js"

# `region` wants the page's own landmarks, which are the front end's and not the view's.
_RUN = """(scope) => axe.run(scope, { rules: { region: { enabled: false } } }).then((found) => found.violations.map(
  ({ id, help, nodes }) => [id, help, ...nodes.map((node) => `${node.target}: ${node.failureSummary}`)].join("\\n")))"""


def violations(page: Page, scope: str = ".stepsnb-run") -> list[str]:
    """Return what axe-core objects to inside `scope`, a rule each with the elements that break it."""
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=str(AXE))
    found: Any = page.evaluate(_RUN, scope)
    return list(found)
