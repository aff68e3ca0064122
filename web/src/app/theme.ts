import { create } from "zustand";
import { type Language, language } from "../kit/i18n";
import { keep, kept } from "../kit/kept";

export type Theme = "light" | "dark" | "system";

interface Preferences {
  theme: Theme;
  language: Language;
  setTheme: (theme: Theme) => void;
  setLanguage: (language: Language) => void;
}

const dark = window.matchMedia?.("(prefers-color-scheme: dark)");

function show(theme: Theme): void {
  const isDark = theme === "dark" || (theme === "system" && dark?.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

function firstLanguage(): Language {
  const chosen = kept("language") ?? navigator.language;
  return chosen.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** What a person chose for this browser: theme and language. */
export const usePreferences = create<Preferences>((set) => ({
  theme: (kept("theme") as Theme | null) ?? "system",
  language: firstLanguage(),
  setTheme: (theme) => {
    keep("theme", theme);
    show(theme);
    set({ theme });
  },
  setLanguage: (chosen) => {
    keep("language", chosen);
    language.set(chosen);
    document.documentElement.lang = chosen === "zh" ? "zh-CN" : "en";
    set({ language: chosen });
  },
}));

/** Apply the preferences before the first paint, and follow the system's theme while none is chosen. */
export function applyPreferences(): void {
  const { theme, language: chosen, setLanguage } = usePreferences.getState();
  show(theme);
  setLanguage(chosen);
  dark?.addEventListener?.("change", () => show(usePreferences.getState().theme));
}
