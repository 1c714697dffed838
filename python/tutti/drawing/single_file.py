"""Pages that are one file without network: a template, filled with its style, its scripts, and its data as JSON.

What came from a file of a user is data: escaped where it stands in the page, and put into it as text nodes by the scripts.
The page's content policy names its one script and its one style by their hashes, so that nothing else can run even so.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

# What every page draws alike; it comes before a page's own scripts.
SHARED = ("tutti.drawing", "machine.js")


def embedded(data: Any) -> str:
    """JSON that can stand inside a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _read(package: str, name: str) -> str:
    return (files(package) / "pages" / name).read_text("utf-8")


def single_file(
    package: str, scripts: Sequence[str], data: Any, parts: dict[str, str] | None = None
) -> str:
    """The page whose page.html, page.css and scripts lie in `pages/` of a package.

    Marks in page.html, @STYLE@, @SCRIPT@, @DATA@ and @POLICY@, are filled in, and those that `parts` names, which are
    already escaped. The data is in the element with the id `data`, as JSON.
    """
    style = _read(package, "page.css")
    script = '"use strict";\n' + "\n".join(
        _read(*place) for place in (SHARED, *((package, name) for name in scripts))
    )
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    filled = {"STYLE": style, "SCRIPT": script, "DATA": embedded(data), "POLICY": policy} | (
        parts or {}
    )
    # In one pass, so that a part that happens to hold a mark like these stays as it is.
    return re.sub("@([A-Z]+)@", lambda found: filled[found[1]], _read(package, "page.html"))
