"""An HTML page as Markdown: the article, without what surrounds it."""

from __future__ import annotations

import re

_BLANK_LINES = re.compile(r"\n{3,}")


def html_to_text(html: str, url: str) -> tuple[str, str]:
    """The title and the main text of a page, as Markdown with absolute links.

    Falls back to the whole page without its navigation when no article stands out.
    """
    title, article = _article(html, url)
    text = _markdown(article, url) if article else ""
    # An "article" that is a small part of the page is a teaser or a notice, not what the page is about.
    if len(text) < 200:
        whole = _markdown(html, url)
        text = whole if len(whole) > 2 * len(text) else text
    return title, text


def _article(html: str, url: str) -> tuple[str, str]:
    from lxml.etree import LxmlError
    from readability import Document

    try:
        page = Document(html, url=url or None)
        return " ".join(page.short_title().split()), page.summary(html_partial=True)
    except (LxmlError, ValueError, RecursionError, AttributeError):
        return _title(html), ""


def _title(html: str) -> str:
    import lxml.html
    from lxml.etree import LxmlError

    try:
        return " ".join(str(lxml.html.fromstring(html).findtext(".//title") or "").split())
    except (LxmlError, ValueError):
        return ""


def _markdown(html: str, url: str) -> str:
    import html_to_markdown

    options = html_to_markdown.ConversionOptions(
        skip_images=True,
        extract_metadata=False,
        autolinks=False,
        base_url=url or None,
        preprocessing=html_to_markdown.PreprocessingOptions(preset="aggressive"),
    )
    content = html_to_markdown.convert(html, options).content or ""
    return _BLANK_LINES.sub("\n\n", content).strip()
