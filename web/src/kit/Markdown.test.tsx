import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Markdown, safeAddress } from "./Markdown";

it("shows HTML of a model as text and makes no element of it", () => {
  const { container } = render(
    <Markdown text={'<script>alert(1)</script> <img src=x onerror="alert(1)">'} />,
  );
  expect(container.querySelector("script, img")).toBeNull();
});

it("fetches no image and names its address instead", () => {
  const { container } = render(<Markdown text="![secret](https://evil.example/?q=1)" />);
  expect(container.querySelector("img")).toBeNull();
  expect(screen.getByText("https://evil.example/?q=1")).toBeTruthy();
});

it("makes links that tell the other side nothing", () => {
  render(<Markdown text="[there](https://a.example/page)" />);
  const link = screen.getByRole("link", { name: "there" });
  expect(link.getAttribute("rel")).toContain("noreferrer");
  expect(link.getAttribute("target")).toBe("_blank");
});

it.each([
  "javascript:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "/api/runs",
  "file:///etc/passwd",
  " javascript:x",
])("makes no link of %s", (address) => {
  expect(safeAddress(address)).toBe("");
});
