"""The page: files that were built and are shipped with the package.

Which files there are is found out once. A path of a request is looked up among them and never touches the file system.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response

from outlast.gateway.problems import no_such_route

router = APIRouter(include_in_schema=False, tags=["page"])

BUILT: Final = Path(__file__).parents[1] / "page"
"""Where the built page is."""

_FOR_EVER: Final = "public, max-age=31536000, immutable"
_MEDIA_TYPES: Final = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".txt": "text/plain",
}


@cache
def built_files(folder: Path) -> dict[str, Path]:
    """The files of the built page, by their paths below it."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix in _MEDIA_TYPES)
    return {path.relative_to(folder).as_posix(): path for path in found}


@router.get("/{path:path}", response_model=None)
async def file(path: str) -> Response:
    """A file of the page. What is no file and looks like none is a view of the page, which finds its own way."""
    files = built_files(BUILT)
    wanted = path if path in files else "index.html"
    is_view = wanted == path or ("." not in path and not path.startswith(("api/", "assets/")))
    if wanted not in files or not is_view:
        return no_such_route(f"/{path[:200]}")
    return FileResponse(
        files[wanted],
        media_type=_MEDIA_TYPES[files[wanted].suffix],
        headers={"Cache-Control": _FOR_EVER if wanted.startswith("assets/") else "no-cache"},
    )
