"""Names of the earlier torch_fl that still work, in one table.

An alias does what it did and warns once with the name to use now; a retired
name does nothing and says once what took its place.  Settings of others that
change results on a platform are told here, too.
"""

import os
import warnings
from collections.abc import Mapping, Sequence

#: new environment variable -> (older names, first match wins)
ENVIRONMENT = {
    "FLAGOS_ACCELERATOR": ("ACCELERATOR",),
    "FLAGOS_TRACER_LIBRARY": ("FLAGOS_CUPTI_LIBRARY", "FLAGOS_MUPTI_LIBRARY", "FLAGOS_TOPSPTI_LIBRARY"),
}

#: older switch -> the word of FLAGOS_LOG that replaces it
LOG_SWITCHES = {"FLAGOS_LOG_DISPATCH": "dispatch", "FLAGOS_LOG_FALLBACK": "fallback"}

#: retired environment variable -> what to do instead
RETIRED = {
    "FLAGOS_USE_FLAGGEMS": "install or remove the torch-fl-flaggems package, or write a routing file",
    "FLAGOS_USE_FLAGGEMS_CPP": "install or remove the torch-fl-flaggems package, or write a routing file",
    "FLAGOS_METAX_BOXING": "install or remove the torch-fl-vendor-kernels package, or write a routing file",
}

#: older backend word of routing files and FLAGOS_OP_* -> the word now
BACKENDS = {
    "flagos_python": "flaggems",
    "flaggems_python": "flaggems",
    "flagos": "flaggems_cpp",
    "cpu": "none",
}

#: words of FLAGOS_LOG, in the order of the core's switches
LOG_WORDS = ("dispatch", "fallback")

_said: set[str] = set()


def _say_once(name: str, sentence: str, category: type[Warning] = FutureWarning) -> None:
    if name not in _said:
        _said.add(name)
        warnings.warn(sentence, category, stacklevel=2)


def environment(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Value of variable `name`, or of an older name for it; None where neither is set or it is empty."""
    environ = os.environ if environ is None else environ
    if environ.get(name):
        return environ[name]
    for old in ENVIRONMENT.get(name, ()):
        value = environ.get(old)
        # `ACCELERATOR` is a word other software uses too: it is ours only where it names one of our platforms.
        if value and (old != "ACCELERATOR" or value.lower() in _platforms()):
            _say_once(old, f"the environment variable {old} is now called {name}")
            return value
    return None


def _platforms() -> list[str]:
    """Every platform that there was when this build was made."""
    from torch_fl.evidence import capabilities

    return capabilities.platform()["known_platforms"]


def publish(name: str) -> None:
    """Give variable `name` the value of an older name of it, for the core, which reads the present names alone."""
    if (value := environment(name)) is not None:
        os.environ[name] = value


def backend(word: str, place: str) -> str:
    """The present name of a backend word that stands at `place`; other words pass through."""
    if word not in BACKENDS:
        return str(word)
    _say_once(f"backend {word}", f"{place}: the backend '{word}' is now called '{BACKENDS[word]}'")
    return BACKENDS[word]


def log_switches(environ: Mapping[str, str] | None = None) -> dict[str, bool]:
    """The core's log switches from FLAGOS_LOG and its older forms.

    Raises:
        ValueError: FLAGOS_LOG holds a word that is not in :data:`LOG_WORDS`.
    """
    environ = os.environ if environ is None else environ
    words = {word.strip() for word in environ.get("FLAGOS_LOG", "").split(",")} - {""}
    if unknown := sorted(words - set(LOG_WORDS)):
        raise ValueError(f"FLAGOS_LOG names '{unknown[0]}', which is no log; the words are {', '.join(LOG_WORDS)}")
    for old, word in LOG_SWITCHES.items():
        if environ.get(old, "0") not in ("", "0"):
            _say_once(old, f"the environment variable {old}=1 is now written FLAGOS_LOG={word}")
            words.add(word)
    return {word: word in words for word in LOG_WORDS}


def report_retired(environ: Mapping[str, str] | None = None) -> None:
    """Say once, for each retired variable that is set, what took its place."""
    environ = os.environ if environ is None else environ
    for old, remedy in RETIRED.items():
        if old in environ:
            _say_once(old, f"the environment variable {old} has no effect any more: {remedy}")


def report_notices(notices: Sequence[Mapping[str, str]], environ: Mapping[str, str] | None = None) -> None:
    """Say once what settings of the environment do that change results on this platform (``[[notices]]`` of platform.toml)."""
    environ = os.environ if environ is None else environ
    for notice in notices:
        setting = f"{notice['variable']}={notice['value']}"
        if environ.get(notice["variable"]) == notice["value"]:
            _say_once(setting, f"{setting}: {notice['sentence']}", UserWarning)


def kernel_folders() -> list[str]:
    """Folders with kernel libraries beside the installed ones: ``FLAGOS_KERNEL_PATH``, with ``:`` between them."""
    return [folder for folder in os.environ.get("FLAGOS_KERNEL_PATH", "").split(os.pathsep) if folder]
