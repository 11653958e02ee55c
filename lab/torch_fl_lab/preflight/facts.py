"""The content of compatibility.json, which is in every package and wheel that has something of a platform in it."""

from __future__ import annotations

from typing import Annotated, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion
from packaging.version import Version as PythonVersion
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from torch_fl_lab.errors import UserError

Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Facts(BaseModel):
    """What a build is. A fact that is not known is absent: an absent `sdk_version` means unknown, and never any."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    schema_: Literal[1] = Field(alias="schema", description="of this document")
    version: Word = Field(description="of torch-fl")
    platform: Word = Field(description="the accelerator that the build is for")
    sdk: Word | None = Field(default=None, description="the vendor's kit, where the platform needs one")
    sdk_version: Word | None = Field(default=None, description="of that kit; absent: unknown")
    emulated: bool = Field(description="its devices live in host memory")
    emulated_sdk: bool = Field(description="it runs on an emulated SDK, and says nothing of a card")
    kernel_sets: list[Word] = Field(description="packages of kernels that the build makes: vendor, flaggems")
    python: Word = Field(description="minor that it was compiled for")
    python_requires: Word = Field(description="as the Python index writes it")
    torch_version: Word = Field(description="PyTorch that it was compiled with")
    torch_cxx11_abi: bool = Field(description="that PyTorch has the C++11 ABI of libstdc++")
    bundled_libtorch: Word | None = Field(default=None, description="the package with the vendor's core of PyTorch, where kernels run on one")
    vendor_torch_version: Word | None = Field(default=None, description="of the wheel that core was taken from")
    build_versions: dict[Word, Word] = Field(description="neighbours that were installed when it was built: what it was tried with")
    pins: dict[Word, Word] = Field(description="versions of the neighbours that the platform asks for; `unknown` where no source names one")
    flaggems_vendor: Word | None = Field(default=None, description="what FlagGems calls the hardware")

    @field_validator("python_requires")
    @classmethod
    def _readable(cls, text: str) -> str:
        try:
            SpecifierSet(text)
        except InvalidSpecifier as error:
            raise ValueError(str(error)) from None
        return text

    @field_validator("torch_version")
    @classmethod
    def _a_version(cls, text: str) -> str:
        try:
            PythonVersion(text)
        except InvalidVersion as error:
            raise ValueError(str(error)) from None
        return text


def read(text: bytes, place: str) -> Facts:
    """The facts in the bytes of a compatibility.json.

    Args:
        place: where they are from, for a message.

    Raises:
        UserError: they are no such document; the key is named.
    """
    try:
        return Facts.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"]))
        raise UserError(f"{place}: {key + ': ' if key else ''}{first['msg']}; it was not written by a build of torch-fl that this preflight knows") from None
