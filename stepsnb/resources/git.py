"""The resource type `git`: versions are the commits of a branch, fetched and pushed with the `git` program."""

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ..errors import ResourceError, WorkspaceError
from ..suggest import unknown_name
from ..workspace import Root
from .base import ResourceType
from .git_program import REMOTE, Git
from .versions import Version

_REF = re.compile(r"[0-9a-fA-F]{4,64}")
_SOURCE_KEYS: Final = ("branch", "uri")
_FETCH_KEYS: Final = ("depth",)
_PUBLISH_KEYS: Final = ("branch", "force", "repository")


class GitType(ResourceType):
    """A repository at `source.uri` and the branch `source.branch`, by default the repository's own.

    A version is `{"ref": COMMIT}`. `get` checks exactly that commit out, as a repository of its own with one commit of
    history; `params: {depth: N}` asks for more of it, 0 for all. `put` pushes what is checked out in an input, named by
    `params: {repository: INPUT}` where there are several, to the branch, or to `params: {branch: NAME}`; `force: true`
    replaces what is there. Nothing of an artifact's git configuration is trusted: it may come from anywhere.

    Args:
        base_dir: Where a `uri` that is a path starts.
    """

    name = "git"

    def __init__(self, resource: str, *, base_dir: Path, timeout_s: float | None = None) -> None:
        self._where = f"resource `{resource}`"
        self._base_dir = base_dir
        self._timeout_s = timeout_s

    def fetch_identity(self) -> Mapping[str, Any]:
        """Return where a `uri` that is a path starts; see `ResourceType.fetch_identity`."""
        return {"base_dir": str(self._base_dir)}

    async def check(self, source: Mapping[str, Any], version: Version | None) -> list[Version]:
        """Return the commits of the branch after `version`, oldest first; see `ResourceType.check`.

        Only the branch's own line is followed, not the branches merged into it. When `version` is no longer on it, as
        after a forced push, the newest commit is all there is to say.
        """
        uri, branch = self._read_source(source)
        known = None if version is None else self._ref(version)
        with TemporaryDirectory(prefix="stepsnb-git-") as folder:
            git = self._git(uri, Path(folder))
            tip, _ = await self._tip(git, branch)
            if known is None or known == tip:
                return [{"ref": tip}]
            await git.run("init", "--quiet", "--bare", "--template=", ".")
            # Commits alone where the server can leave the files out; others send everything, which is right as well.
            await git.run("fetch", "--quiet", "--no-tags", "--filter=tree:0", REMOTE, tip)
            is_on_branch = await git.succeeds("merge-base", "--is-ancestor", known, tip)
            if not is_on_branch:
                return [{"ref": tip}]
            listed = await git.run("rev-list", "--first-parent", "--reverse", f"{known}..{tip}")
            return [{"ref": ref} for ref in listed.split()]

    async def fetch(
        self, source: Mapping[str, Any], version: Version | None, params: Mapping[str, Any], folder: Path
    ) -> None:
        """Check the commit out in `folder`; see `ResourceType.fetch`."""
        uri, branch = self._read_source(source)
        self._refuse_unknown("params", params, _FETCH_KEYS)
        depth = self._depth(params.get("depth", 1))
        if version is None:
            raise ResourceError(f"{self._where}: nothing to fetch without a version")
        ref = self._ref(version)
        git = self._git(uri, folder)
        name = branch or (await self._tip(git, None))[1]
        await git.run("init", "--quiet", "--template=", f"--initial-branch={name}", ".")
        ref = await self._fetch_commit(git, ref, name, depth)
        await git.run("update-ref", "--no-deref", f"refs/heads/{name}", ref)
        await git.run("checkout", "--quiet", "--force", name)
        # An index that holds no times, so that the same commit is the same artifact wherever it was fetched.
        await git.run("read-tree", "HEAD")
        for left in ("FETCH_HEAD", "ORIG_HEAD", "logs"):
            git.remove(left)

    async def publish(self, source: Mapping[str, Any], params: Mapping[str, Any], folder: Path) -> Version | None:
        """Push what is checked out in an input; see `ResourceType.publish`."""
        uri, branch = self._read_source(source)
        self._refuse_unknown("params", params, _PUBLISH_KEYS)
        repository = self._repository(params, folder)
        is_forced = params.get("force", False) in (True, "true")
        with TemporaryDirectory(prefix="stepsnb-git-") as place:
            git = self._git(uri, Path(place))
            target = str(params.get("branch") or branch or (await self._tip(git, None))[1])
            # By way of a repository of our own: fetching runs nothing that the other one's configuration names.
            await git.run("init", "--quiet", "--bare", "--template=", ".")
            await git.run("fetch", "--quiet", "--no-tags", "--update-shallow", str(repository), "HEAD")
            ref = (await git.run("rev-parse", "FETCH_HEAD")).strip()
            await git.push(f"{ref}:refs/heads/{target}", is_forced=is_forced)
        return {"ref": ref}

    async def _fetch_commit(self, git: Git, ref: str, branch: str, depth: int) -> str:
        """Fetch one commit by name, with as little history as the server allows; return its whole name."""
        shallow = [f"--depth={depth}"] if depth else []
        if len(ref) in (40, 64) and await git.succeeds("fetch", "--quiet", "--no-tags", *shallow, REMOTE, ref):
            return ref
        # A server that gives commits by the name of a branch only, or a name that was cut short.
        await git.run("fetch", "--quiet", "--no-tags", REMOTE, f"refs/heads/{branch}")
        found = await git.try_run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if found is None:
            raise ResourceError(f"{self._where}: there is no commit `{ref}` on branch `{branch}`; was it pushed away?")
        return found.strip()

    async def _tip(self, git: Git, branch: str | None) -> tuple[str, str]:
        """Return the newest commit of the branch, or of the repository's own one, and the branch's name."""
        wanted = "HEAD" if branch is None else f"refs/heads/{branch}"
        listed = [line.split() for line in (await git.run("ls-remote", "--symref", REMOTE, wanted)).splitlines()]
        name = next((line[1].removeprefix("refs/heads/") for line in listed if line[0] == "ref:"), branch)
        tip = next((line[0] for line in listed if line[-1] == wanted and line[0] != "ref:"), None)
        if tip is None or name is None:
            missing = "no commit" if branch is None else f"no branch `{branch}`"
            raise ResourceError(f"{self._where}: {git.uri} has {missing}; correct `source:`, or push to it first")
        return tip, name

    def _git(self, uri: str, folder: Path) -> Git:
        return Git(self._where, uri, folder, timeout_s=self._timeout_s)

    def _read_source(self, source: Mapping[str, Any]) -> tuple[str, str | None]:
        self._refuse_unknown("source", source, _SOURCE_KEYS)
        uri, branch = source.get("uri"), source.get("branch")
        if not isinstance(uri, str) or not uri or uri.startswith("-"):
            raise ResourceError(f"{self._where}: `uri:` must name a repository, as in `https://host/project.git`")
        if branch is not None and (not isinstance(branch, str) or not branch):
            raise ResourceError(f"{self._where}: `branch:` must be the name of a branch; leave it out for the default")
        is_path = "://" not in uri and not re.match(r"[^/]+:", uri)
        return str(self._base_dir.absolute() / Path(uri).expanduser()) if is_path else uri, branch

    def _refuse_unknown(self, key: str, values: Mapping[str, Any], known: tuple[str, ...]) -> None:
        for name in values:
            if name not in known:
                raise ResourceError(f"{self._where}: {unknown_name(f'key of `{key}:`', name, known)}")

    def _ref(self, version: Version) -> str:
        ref = version.get("ref", "")
        if not _REF.fullmatch(ref):
            raise ResourceError(f"{self._where}: `{ref}` is no commit; a version of type `git` is `{{ref: COMMIT}}`")
        return ref.lower()

    def _depth(self, value: Any) -> int:
        try:
            depth = int(str(value))
        except ValueError:
            depth = -1
        if depth < 0:
            raise ResourceError(f"{self._where}: `depth: {value}` is no number of commits; 0 means all")
        return depth

    def _repository(self, params: Mapping[str, Any], folder: Path) -> Path:
        name = params.get("repository")
        if name is None:
            inputs = sorted(each.name for each in folder.iterdir() if (each / ".git").exists())
            if len(inputs) != 1:
                found = ", ".join(inputs) or "none of its inputs"
                raise ResourceError(
                    f"{self._where}: name what to push in `params: {{repository: INPUT}}`; found {found}"
                )
            name = inputs[0]
        try:
            place = Root(folder).resolve(str(name))
        except WorkspaceError as exc:
            raise ResourceError(f"{self._where}: `repository:`: {exc}") from exc
        if not (place / ".git").exists():
            raise ResourceError(
                f"{self._where}: `{name}` is no git repository; put an input that was fetched with `git`"
            )
        return place
