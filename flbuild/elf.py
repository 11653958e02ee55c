"""What an ELF file says about itself: needed libraries, run paths, symbols."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection

MAGIC = b"\x7fELF"
# Given to every shared library by the linker or the loader; they explain nothing and need no explanation.
LINKER_SYMBOLS = {
    "_init",
    "_fini",
    "_edata",
    "_end",
    "__bss_start",
    "_ITM_deregisterTMCloneTable",
    "_ITM_registerTMCloneTable",
    "__gmon_start__",
}


def is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == MAGIC


@dataclass(frozen=True)
class Elf:
    """One shared library or program.

    Raises:
        elftools.common.exceptions.ELFError: the file is not ELF.
    """

    path: Path

    @cached_property
    def _tags(self) -> dict[str, list[str]]:
        tags: dict[str, list[str]] = {}
        with self.path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if isinstance(section, DynamicSection):
                    for tag in section.iter_tags():
                        if tag.entry.d_tag in ("DT_NEEDED", "DT_RUNPATH", "DT_RPATH", "DT_SONAME"):
                            value = getattr(tag, tag.entry.d_tag.removeprefix("DT_").lower())
                            tags.setdefault(tag.entry.d_tag, []).append(value)
        return tags

    @cached_property
    def _symbols(self) -> tuple[set[str], set[str]]:
        exported: set[str] = set()
        undefined: set[str] = set()
        with self.path.open("rb") as file:
            for section in ELFFile(file).iter_sections():
                if isinstance(section, SymbolTableSection) and section.name == ".dynsym":
                    for symbol in section.iter_symbols():
                        if not symbol.name or symbol.name in LINKER_SYMBOLS:
                            continue
                        binding = symbol.entry.st_info.bind
                        if symbol.entry.st_shndx != "SHN_UNDEF":
                            if binding != "STB_LOCAL" and symbol.entry.st_info.type != "STT_SECTION":
                                exported.add(symbol.name)
                        elif binding == "STB_GLOBAL":  # a weak one may stay unresolved
                            undefined.add(symbol.name)
        return exported, undefined

    @property
    def needed(self) -> list[str]:
        """The libraries it asks the loader for, in order."""
        return self._tags.get("DT_NEEDED", [])

    @property
    def run_paths(self) -> list[str]:
        """The folders of DT_RUNPATH and DT_RPATH, in order."""
        tags = self._tags
        return [path for tag in ("DT_RUNPATH", "DT_RPATH") for value in tags.get(tag, []) for path in value.split(":")]

    @cached_property
    def versions_needed(self) -> set[str]:
        """The symbol versions that it asks other libraries for: `GLIBC_2.34`, `GLIBCXX_3.4.29`."""
        with self.path.open("rb") as file:
            sections = [s for s in ELFFile(file).iter_sections() if isinstance(s, GNUVerNeedSection)]
            return {version.name for section in sections for _, versions in section.iter_versions() for version in versions}

    @property
    def exported(self) -> set[str]:
        return self._symbols[0]

    @property
    def undefined(self) -> set[str]:
        return self._symbols[1]

    def resolve(self, name: str) -> Path | None:
        """Where the loader finds a needed library by this file's own run paths; None where it does not."""
        for folder in self.run_paths:
            candidate = (
                Path(folder.replace("$ORIGIN", str(self.path.parent)).replace("${ORIGIN}", str(self.path.parent)))
                / name
            )
            if candidate.is_file():
                return candidate.resolve()
        return None
