"""Shell patterns for paths: `*` stays within one folder, `**` may only lead."""

from fnmatch import fnmatchcase


def check_glob(pattern: str) -> str | None:
    """Say what is wrong with `pattern`, or None."""
    if not pattern.strip("/"):
        return "an empty glob matches nothing; leave it out, or write `**/*`"
    if any("**" in part for part in pattern.split("/")[1:]) or ("**" in pattern and not pattern.startswith("**/")):
        return f"`**` in `{pattern}` works only as the first part of a glob, as in `**/*.md`"
    return None


def match_glob(pattern: str, path: str) -> bool:
    """Whether the whole relative `path` matches; a leading `**/` stands for any number of folders, none included."""
    parts, names = pattern.split("/"), path.split("/")
    if parts[0] == "**":
        parts = parts[1:]
        names = names[-len(parts) :]
    return len(parts) == len(names) and all(map(fnmatchcase, names, parts))
