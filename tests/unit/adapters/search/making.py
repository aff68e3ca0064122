"""Makes files to read: real PDFs of a few lines, without a library."""

from pathlib import Path


def pdf(*pages: str, title: str = "", extra_trailer: str = "") -> bytes:
    """A valid PDF; each page holds the lines of one string."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for page in pages:
        lines = "".join(f"({line}) Tj T* " for line in page.split("\n"))
        content = f"BT /F1 11 Tf 14 TL 60 760 Td {lines}ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 << /Type /Font "
            f"/Subtype /Type1 /BaseFont /Helvetica >> >> >> /Contents {len(objects) + 2} 0 R >>"
        )
        kids.append(f"{len(objects)} 0 R")
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    objects.append(f"<< /Title ({title}) >>")
    return _assembled(objects, extra_trailer)


def _assembled(objects: list[str], extra_trailer: str) -> bytes:
    body = b"%PDF-1.7\n"
    offsets = []
    for number, text in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R {extra_trailer}>>"
    return body + (
        f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n{trailer}\nstartxref\n{len(body)}\n%%EOF\n"
    ).encode("latin-1")


def encrypted_pdf() -> bytes:
    """A PDF that asks for a password nobody has."""
    standard = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{'41' * 32}> /U <{'42' * 32}> /P -44 >> /ID [<00> <00>] "
    return pdf("secret", extra_trailer=standard)


def page(article: str, title: str = "A page") -> str:
    """An HTML page with an article and the clutter that surrounds one."""
    return f"""<!doctype html><html><head><title>{title}</title><script>var tracking = "tracked";</script>
    <style>.x {{ color: red }}</style></head><body><nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
    <div id="content"><article>{article}</article></div>
    <footer>Subscribe to our newsletter. All rights reserved.</footer></body></html>"""


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """`root` with these files in it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root
