"""Ways in which people obtain the repository, and settings of their machines: each makes the tiny
pipeline, from a clone, as somebody else has it.

A way is a function of the pipeline with everything made and an empty folder; a setting one of a
fresh clone and an empty folder. Both return the project to work in.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

from tiny import Project

MAKE = ("make", "-o", ".venv/.ready")  # in this environment: nothing is set up
GIT = ("git", "-c", "protocol.file.allow=always", "clone", "--quiet")


def cloned(made: Project, folder: Path, *words: str) -> Project:
    """A clone, with these options of git clone."""
    clone = Project(folder)
    made.do(*GIT, *words, made.folder.as_uri(), str(folder))
    return clone


def autocrlf(made: Project, folder: Path) -> Project:
    """core.autocrlf=true, as Git for Windows sets it"""
    return cloned(made, folder / "clone", "--config", "core.autocrlf=true")


def shallow(made: Project, folder: Path) -> Project:
    """git clone --depth 1 --filter=blob:none"""
    served = "git -c uploadpack.allowFilter=true upload-pack"
    words = ("--depth", "1", "--filter=blob:none", "--upload-pack", served)
    return cloned(made, folder / "clone", *words)


def tag(made: Project, folder: Path) -> Project:
    """git clone --branch TAG: no branch"""
    whole = cloned(made, folder / "whole")
    whole.do("git", "tag", "v1")
    return cloned(whole, folder / "clone", "--branch", "v1", "--config", "advice.detachedHead=0")


def worktree(made: Project, folder: Path) -> Project:
    """git worktree add"""
    clone = cloned(made, folder / "clone")
    clone.do("git", "worktree", "add", "--quiet", "-b", "other", str(folder / "worktree"))
    return Project(folder / "worktree")


def submodule(made: Project, folder: Path) -> Project:
    """a submodule"""
    outer = Project(folder / "outer")
    outer.folder.mkdir()
    outer.do("git", "init", "--quiet")
    allow = ("-c", "protocol.file.allow=always")
    outer.do("git", *allow, "submodule", "--quiet", "add", made.folder.as_uri(), "strata")
    outer.do("git", "commit", "--quiet", "--message", "with a submodule")
    return Project(outer.folder / "strata")


def archive(made: Project, folder: Path) -> Project:
    """Download ZIP, by a program that loses executable bits, and what the refusal says to do"""
    content = downloaded(made, folder)
    content.do("git", "init", "--quiet")
    content.commit("archive")
    return content


def odd_path(made: Project, folder: Path) -> Project:
    """a path of 200 characters with spaces, quotes, umlauts"""
    long = folder / 'it\'s a "größer" $HOME; clone & more'
    return cloned(made, long / ("n" * max(1, 200 - len(str(long)))))


def other_owner(made: Project, folder: Path) -> Project:
    """a clone of another user's, with git's safe.directory"""
    clone = owned_by_another(made, folder)
    config = folder / "gitconfig"
    config.write_text(f"[safe]\n    directory = {clone.folder}\n")
    clone.environment["GIT_CONFIG_GLOBAL"] = str(config)
    return clone


WAYS: list[Callable[[Project, Path], Project]] = [
    autocrlf, shallow, tag, worktree, submodule, archive, odd_path, other_owner,
]  # fmt: skip


def downloaded(made: Project, folder: Path) -> Project:
    """The files of the last commit, and no .git; none of them executable."""
    (folder / "archive").mkdir()
    made.do("git", "archive", "--output", str(folder / "archive.tar"), "HEAD")
    shutil.unpack_archive(folder / "archive.tar", folder / "archive", filter="data")
    for path in (folder / "archive").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return Project(folder / "archive")


def owned_by_another(made: Project, folder: Path) -> Project:
    """A clone that git takes for another user's."""
    clone = cloned(made, folder / "clone")
    clone.environment["GIT_TEST_ASSUME_DIFFERENT_OWNER"] = "1"
    return clone


def shell(name: str) -> Callable[[Project, Path], Project]:
    """A setting: SHELL is the one of that name."""

    def setting(clone: Project, folder: Path) -> Project:
        clone.environment["SHELL"] = shutil.which(name) or ""
        return clone

    setting.__name__, setting.__doc__ = name, f"SHELL={name}"
    return setting


def configured(clone: Project, home: Path) -> Project:
    """git, DVC, IPython, Jupyter and matplotlib configured in the home folder; no name in git"""
    wrong = {
        ".gitconfig": "[core]\nautocrlf = true\nhooksPath = ~/hooks\nquotePath = false\n"
        "excludesFile = ~/ignored\n[color]\nui = always\n[commit]\ngpgSign = true\n"
        "[status]\nshowUntrackedFiles = no\nrelativePaths = false\n[diff]\nnoprefix = true\n"
        "external = false\n[user]\nuseConfigOnly = true\n[tag]\ngpgSign = true\n",
        "ignored": "*.csv\n*.json\n*.lock\n*.html\n",
        "hooks/post-checkout": "#!/bin/sh\necho a hook; exit 1\n",
        "hooks/pre-commit": "#!/bin/sh\necho a hook; exit 1\n",
        ".config/dvc/config": "[core]\n    autostage = true\n    remote = elsewhere\n"
        "    checksum_jobs = 1\n[cache]\n    type = symlink\n"
        "[remote \"elsewhere\"]\n    url = /nowhere\n[parsing]\n    bool = boolean_optional\n",
        ".config/matplotlib/matplotlibrc": "font.size: 20\nsavefig.bbox: tight\n"
        "savefig.transparent: True\naxes.grid: True\ntext.usetex: True\nimage.cmap: jet\n"
        "figure.dpi: 30\nlines.linewidth: 9\nbackend: TkAgg\npdf.compression: 0\n",
        ".ipython/profile_default/startup/first.py": "raise SystemExit('of the user')\n",
        ".ipython/profile_default/ipython_config.py": "c.InlineBackend.rc = {'font.size': 30}\n",
        ".jupyter/jupyter_nbconvert_config.py": "c.HTMLExporter.theme = 'dark'\n",
        "share/kernels/python3/kernel.json": '{"argv": ["false"], "display_name": "Python 3",'
        ' "language": "python"}\n',
        "share/nbconvert/templates/basic/conf.json": '{"base_template": "nowhere"}\n',
    }  # fmt: skip
    for name, text in wrong.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    for hook in (home / "hooks").iterdir():
        hook.chmod(0o755)
    for name in [x for x in clone.environment if x.startswith(("GIT_", "XDG_"))]:
        del clone.environment[name]
    clone.environment |= {"HOME": str(home), "JUPYTER_PATH": str(home / "share")}
    return clone


def variables(clone: Project, folder: Path) -> Project:
    """other modules on PYTHONPATH, threads, colours, MAKEFLAGS, MPLBACKEND and others"""
    for name in ("numpy", "pandas", "torch", "matplotlib", "strata", "ops"):
        (folder / f"{name}.py").write_text("raise ImportError('of the user')\n")
    threads = ("OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "OMP")
    clone.environment |= {f"{name}_NUM_THREADS": "8" for name in threads}
    clone.environment |= {
        "PYTHONPATH": str(folder), "PYTHONOPTIMIZE": "1", "PYTHONHASHSEED": "7",
        "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "always", "PYTHONDONTWRITEBYTECODE": "1",
        "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "COLUMNS": "20", "MAKEFLAGS": "-j8",
        "SOURCE_DATE_EPOCH": "1700000000", "MPLBACKEND": "module://nowhere", "TZ": "Asia/Tokyo",
        "CDPATH": str(folder), "NPY_DISABLE_CPU_FEATURES": "AVX2", "MKL_CBWR": "AUTO",
        "JUPYTER_PREFER_ENV_PATH": "0", "DVC_NO_ANALYTICS": "1",
    }  # fmt: skip
    return clone


def closed(clone: Project, folder: Path) -> Project:
    """LC_ALL=C, a home folder that cannot be written, no terminal, TMPDIR of 120 characters"""
    scratch = folder / ("n" * max(1, 120 - len(str(folder))))
    scratch.mkdir()
    clone.environment |= {"LC_ALL": "C", "LANG": "C", "HOME": "/proc/nowhere"}
    clone.environment["TMPDIR"] = str(scratch)
    return clone


def private(clone: Project, folder: Path) -> Project:
    """umask 077"""
    clone.umask = 0o077
    return clone


def shared(clone: Project, folder: Path) -> Project:
    """umask 002 and a cache, for a group"""
    clone.umask = 0o002
    config = clone.folder / ".dvc" / "config.local"
    config.write_text(f"[cache]\n    dir = {folder / 'cache'}\n    shared = group\n")
    return clone


def by_git(clone: Project, folder: Path) -> Project:
    """called by an alias of git, while git log waits in a pager"""
    log = "import pty; pty.spawn(['git', '-c', 'core.pager=head -c 1 /dev/tty', 'log'])"
    beside = f'python -c "{log}" < /dev/null > /dev/null 2>&1 &'
    alias = f'alias.call=!f() {{ {beside} "$@"; code=$?; kill $!; return $code; }}; f'
    clone.caller = ("git", "-c", alias, "call")
    return clone


SETTINGS: list[Callable[[Project, Path], Project]] = [
    configured, variables, closed, private, shared, by_git,
    shell("tcsh"), shell("zsh"), shell("fish"),
]  # fmt: skip
