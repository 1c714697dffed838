"""Makes pages that are one file and need no network: a template with style, scripts and JSON data.

Contents of users' files are only data: they are escaped in the page, and scripts insert them as
text nodes. In addition, the page's content policy names its script and its style by their hashes,
so that nothing else can run.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

# The script that all pages share; it comes before a page's own scripts.
SHARED = ("tutti.drawing", "machine.js")


def embedded(data: Any) -> str:
    """JSON for a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _read(package: str, name: str) -> str:
    return (files(package) / "pages" / name).read_text("utf-8")


def single_file(
    package: str, scripts: Sequence[str], data: Any, parts: dict[str, str] | None = None
) -> str:
    """The page made of page.html, page.css and the scripts in `pages/` of a package.

    The marks @STYLE@, @SCRIPT@, @DATA@ and @POLICY@ in page.html are replaced, and so are the
    marks that `parts` names, whose values are already escaped. The element with the id `data`
    holds the data as JSON.
    """
    style = _read(package, "page.css")
    script = '"use strict";\n' + "\n".join(
        _read(*place) for place in (SHARED, *((package, name) for name in scripts))
    )
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}"
    filled = {"STYLE": style, "SCRIPT": script, "DATA": embedded(data), "POLICY": policy} | (
        parts or {}
    )
    # All marks are replaced in one pass, so that a mark inside a replacement stays as it is.
    return re.sub("@([A-Z]+)@", lambda found: filled[found[1]], _read(package, "page.html"))
