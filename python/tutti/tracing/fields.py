"""Values of an untrusted header: each is read with its type and its bounds."""

from collections.abc import Iterator
from typing import Any

from tutti.tracing.errors import TraceError


class Fields:
    """An object of the header. `where` is its place, for messages."""

    def __init__(self, value: Any, where: str) -> None:
        self.where = where
        if not isinstance(value, dict):
            raise TraceError(f"{where} is no object")
        self._value = value

    def _get(self, key: str) -> Any:
        if key not in self._value:
            raise TraceError(f"{self.where} has no '{key}'")
        return self._value[key]

    def has(self, key: str) -> bool:
        """Files of earlier versions of Tutti lack some members."""
        return key in self._value

    def absent(self, key: str) -> bool:
        return self._get(key) is None

    def text(self, key: str, longest: int = 4096) -> str:
        value = self._get(key)
        if not isinstance(value, str) or len(value) > longest:
            raise TraceError(f"{self.where}: '{key}' is no text of at most {longest} characters")
        return value

    def integer(self, key: str, least: int, most: int) -> int:
        return integer(self._get(key), least, most, f"{self.where}: '{key}'")

    def number(self, key: str, bound: float) -> float:
        value = self._get(key)
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not -bound <= value <= bound
        ):
            raise TraceError(f"{self.where}: '{key}' is no number between -{bound:g} and {bound:g}")
        return float(value)

    def entries(self, key: str, most: int) -> list[Any]:
        return list_of(self._get(key), most, f"{self.where}: '{key}'")

    def objects(self, key: str, most: int) -> Iterator["Fields"]:
        for place, value in enumerate(self.entries(key, most)):
            yield Fields(value, f"{self.where}: {key}[{place}]")

    def integers(self, key: str, least: int, most: int, longest: int) -> list[int]:
        return integers(self._get(key), least, most, longest, f"{self.where}: '{key}'")

    def texts(self, key: str, most: int) -> list[str]:
        values = self.entries(key, most)
        if not all(isinstance(value, str) and len(value) <= 4096 for value in values):
            raise TraceError(f"{self.where}: '{key}' is no list of texts")
        return values


def list_of(value: Any, most: int, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise TraceError(f"{where} is no list")
    if len(value) > most:
        raise TraceError(f"{where} has {len(value)} entries; at most {most} are possible")
    return value


def integer(value: Any, least: int, most: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TraceError(f"{where} is no whole number")
    if not least <= value <= most:
        raise TraceError(f"{where} is out of range; {least} to {most} are possible")
    return value


def integers(value: Any, least: int, most: int, longest: int, where: str) -> list[int]:
    return [integer(item, least, most, where) for item in list_of(value, longest, where)]
