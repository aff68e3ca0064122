import { useQuery } from "@tanstack/react-query";
import { type ErrorComponentProps, Link, Outlet, useNavigate } from "@tanstack/react-router";
import { Refused } from "../api/client";
import { threadsQuery } from "../api/queries";
import { sessionQuery, useMay, useSignOut } from "../api/session";
import { DeadLetterBadge, DeadLetterBanner } from "../features/tasks/DeadLetterBanner";
import { useWords, type Word } from "../kit/i18n";
import { Button, Empty, ErrorNote, Loading } from "../kit/parts";
import { SignIn } from "./SignIn";
import { type Theme, usePreferences } from "./theme";

const PLACES: { to: string; word: Word; isForAdmin?: boolean }[] = [
  { to: "/", word: "nav.start" },
  { to: "/runs", word: "nav.runs" },
  { to: "/background-tasks", word: "nav.tasks", isForAdmin: true },
  { to: "/stats", word: "nav.stats" },
  { to: "/shadow", word: "nav.shadow" },
  { to: "/memory", word: "nav.memory" },
  { to: "/settings", word: "nav.settings", isForAdmin: true },
];

const LINK =
  "rounded-md px-2 py-1 text-faint hover:text-ink [&.active]:bg-accent-page [&.active]:text-accent";

/** What stands around every view. Whoever the gateway does not know sees the way in, and nothing else. */
export function Shell() {
  const say = useWords();
  const session = useQuery(sessionQuery);
  const isKnown = session.data ? session.data.user !== null : false;
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-40 focus:bg-card focus:p-2"
      >
        {say("nav.skip")}
      </a>
      <header className="flex shrink-0 flex-col gap-2 border-line border-b bg-card p-3 md:w-60 md:border-e md:border-b-0">
        <div className="flex items-center gap-2 font-semibold">
          <img src="/icon.svg" alt="" width="22" height="22" /> outlast
        </div>
        {isKnown ? <Places /> : null}
        {isKnown ? <Threads /> : null}
        <Preferences />
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 flex-1 overflow-y-auto p-4 outline-none md:p-6">
        {isKnown ? (
          <>
            <DeadLetterBanner />
            <Outlet />
          </>
        ) : session.isPending ? (
          <Loading />
        ) : (
          <Outside error={session.error} onRetry={() => void session.refetch()} />
        )}
      </main>
    </div>
  );
}

/** The way in; or, where it cannot even be asked who is there, why. */
function Outside({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const isRefused = error instanceof Refused && error.problem.status === 401;
  return error && !isRefused ? <ErrorNote error={error} onRetry={onRetry} /> : <SignIn error={error} />;
}

function Places() {
  const say = useWords();
  const isAdmin = useMay("admin");
  return (
    <nav aria-label={say("nav.label")} className="flex flex-wrap gap-1 text-sm md:flex-col">
      {PLACES.filter((place) => isAdmin || !place.isForAdmin).map(({ to, word }) => (
        <Link key={to} to={to} className={LINK} activeOptions={{ exact: to === "/" }}>
          {say(word)}
          {to === "/background-tasks" ? <DeadLetterBadge /> : null}
        </Link>
      ))}
    </nav>
  );
}

function Threads() {
  const say = useWords();
  const threads = useQuery(threadsQuery());
  if (!threads.data?.threads.length) return null;
  return (
    <nav
      aria-label={say("nav.threads")}
      className="hidden min-h-0 flex-1 flex-col overflow-y-auto text-sm md:flex"
    >
      <h2 className="px-2 py-1 text-faint text-xs uppercase tracking-wide">{say("nav.threads")}</h2>
      {threads.data.threads.map((thread) => (
        <Link
          key={thread.thread_id}
          to="/threads/$threadId"
          params={{ threadId: thread.thread_id }}
          className={`${LINK} truncate`}
          title={thread.title}
        >
          {thread.title || thread.thread_id}
        </Link>
      ))}
    </nav>
  );
}

function Preferences() {
  const say = useWords();
  const { theme, language, setTheme, setLanguage } = usePreferences();
  return (
    <div className="flex flex-wrap items-center gap-2 text-xs md:mt-auto">
      <SignedIn />
      <select
        aria-label={say("nav.theme")}
        className="rounded border border-line bg-card p-1 text-faint"
        value={theme}
        onChange={(change) => setTheme(change.target.value as Theme)}
      >
        <option value="system">{say("theme.system")}</option>
        <option value="light">{say("theme.light")}</option>
        <option value="dark">{say("theme.dark")}</option>
      </select>
      <select
        aria-label={say("nav.language")}
        className="rounded border border-line bg-card p-1 text-faint"
        value={language}
        onChange={(change) => setLanguage(change.target.value === "zh" ? "zh" : "en")}
      >
        <option value="en">English</option>
        <option value="zh">中文</option>
      </select>
    </div>
  );
}

/** Who is signed in, and the way out; nothing where nobody need say who they are. */
function SignedIn() {
  const say = useWords();
  const session = useQuery(sessionQuery);
  const signOut = useSignOut();
  const navigate = useNavigate();
  if (!session.data?.is_signed_in) return null;
  return (
    <p className="flex w-full items-center justify-between gap-2">
      <span className="truncate">{say("session.as", { user: session.data.user ?? "" })}</span>
      <Button
        look="quiet"
        disabled={signOut.isPending}
        onClick={() => signOut.mutate(undefined, { onSuccess: () => void navigate({ to: "/" }) })}
      >
        {say("session.signOut")}
      </Button>
    </p>
  );
}

export function NotFound() {
  const say = useWords();
  return (
    <Empty title={say("page.notFound")}>
      <Link to="/" className="text-accent underline">
        {say("nav.start")}
      </Link>
    </Empty>
  );
}

/** What is shown in the place of a view that broke; the rest of the page stays. */
export function Broken({ error, reset }: ErrorComponentProps) {
  return <ErrorNote error={error} onRetry={reset} />;
}
