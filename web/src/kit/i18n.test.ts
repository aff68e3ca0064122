import { expect, it } from "vitest";
import { language, say, sayValue } from "./i18n";
import { en } from "./words/en";
import { zh } from "./words/zh";

it("has the same places to fill in every language", () => {
  const places = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).sort();
  for (const key of Object.keys(en) as (keyof typeof en)[])
    expect(places(zh[key]), key).toEqual(places(en[key]));
});

it("fills in values and changes the language", () => {
  expect(say("timeline.step", { step: 3 })).toBe("step 3");
  language.set("zh");
  expect(say("timeline.step", { step: 3 })).toBe("第 3 步");
  language.set("en");
});

it("leaves a value it has no words for as it is", () => {
  expect(sayValue("state", "DREAMING")).toBe("DREAMING");
});
