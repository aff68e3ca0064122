"""What servers answer, as results: nothing twice, nothing binary in a text, everything bounded."""

import base64
import json
from typing import Any

import mcp_types as types
import pytest

from outlast.adapters.mcp.results import MOST_CONTENTS_BYTES, Contents, error_text, product_of, read_result
from outlast.domain.errors import ToolTrouble
from outlast.testing.contexts import ArtifactsInMemory

LONG = base64.b64encode(bytes(range(256)) * 20).decode()


def answered(*parts: Any, structured: Any = None) -> types.CallToolResult:
    return types.CallToolResult(content=list(parts), structured_content=structured)


def words(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


@pytest.mark.parametrize(
    ("text", "structured"),
    [
        ('{"n": 1}', {"n": 1}),
        ("plain", {"result": "plain"}),
        ("3", {"result": 3}),
        ('[{"a": 1}]', {"entities": [{"a": 1}], "relations": []}),
    ],
)
async def test_a_text_that_says_the_structured_content_again_is_left_out(text: str, structured: Any) -> None:
    assert (
        await read_result(answered(words(text), structured=structured), ArtifactsInMemory())
    ).data == structured


async def test_text_beside_structured_content_is_kept() -> None:
    reading = await read_result(answered(words("Careful."), structured={"n": 1}), ArtifactsInMemory())
    assert reading.data == {"structured": {"n": 1}, "content": ["Careful."]}


async def test_resources_sound_and_links_are_told_in_words() -> None:
    inside = types.TextResourceContents(uri="file:///a.txt", text="inside")
    blob = types.BlobResourceContents(uri="file:///b.bin", blob=LONG, mime_type="application/zip")
    reading = await read_result(
        answered(
            types.EmbeddedResource(type="resource", resource=inside),
            types.EmbeddedResource(type="resource", resource=blob),
            types.AudioContent(type="audio", data=LONG, mime_type="audio/wav"),
            types.ResourceLink(type="resource_link", uri="file:///c", name="see"),
        ),
        ArtifactsInMemory(),
    )
    assert isinstance(reading.data, str)
    for part in (
        "[file:///a.txt]\ninside",
        "application/zip, 5120 bytes",
        "audio/wav, 5120 bytes",
        "link to see",
    ):
        assert part in reading.data
    assert LONG[:100] not in reading.data
    assert len(reading.artifacts) == 1


@pytest.mark.parametrize("text", [LONG, f"data:image/png;base64,{LONG}"])
async def test_a_text_of_nothing_but_encoded_bytes_is_kept_as_bytes(text: str) -> None:
    artifacts = ArtifactsInMemory()
    reading = await read_result(answered(words(text), structured={"deep": [{"picture": text}]}), artifacts)
    assert len(json.dumps(reading.data)) < 500
    assert await artifacts.get(reading.artifacts[0]) == bytes(range(256)) * 20


async def test_long_words_are_no_bytes() -> None:
    for text in ("A" * 5000, "word " * 1000, "https://example.org/" + "a/B1" * 500):
        assert (await read_result(answered(words(text)), ArtifactsInMemory())).data == text


async def test_data_that_cannot_be_decoded_is_left_out_with_a_word() -> None:
    broken = types.ImageContent(type="image", data="a", mime_type="image/png")
    assert "cannot be decoded" in str((await read_result(answered(broken), ArtifactsInMemory())).data)


async def test_a_task_that_brings_too_much_is_refused() -> None:
    contents = Contents()
    with pytest.raises(ToolTrouble):
        await contents.put(bytes(MOST_CONTENTS_BYTES + 1))
    assert contents.found == {}


async def test_the_product_of_a_task_brings_its_contents_along() -> None:
    product = await product_of(answered(types.ImageContent(type="image", data=LONG, mime_type="image/png")))
    [digest] = product.artifacts
    assert product.contents[digest] == bytes(range(256)) * 20
    assert digest in str(product.data)


def test_an_error_keeps_its_last_line() -> None:
    shown = error_text("trace\n" * 5000 + "the reason")
    assert shown.endswith("the reason")
    assert len(shown) <= 4000
