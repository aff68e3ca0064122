import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMay } from "../../api/session";
import { useWords } from "../../kit/i18n";
import { deadLettersQuery } from "./queries";

/** Says on every page that notifications could not be delivered. Silent for those who may not see them. */
export function DeadLetterBanner() {
  const say = useWords();
  const isAdmin = useMay("admin");
  const dead = useQuery({ ...deadLettersQuery(), enabled: isAdmin });
  const number = dead.data?.background_tasks.length ?? 0;
  if (number === 0) return null;
  return (
    <div
      role="alert"
      className="mb-4 flex flex-wrap items-center gap-2 rounded-md bg-bad-page px-3 py-2 text-bad text-sm"
    >
      <span>{say("dead.banner", { count: number })}</span>
      <Link to="/background-tasks" className="underline">
        {say("dead.look")}
      </Link>
    </div>
  );
}
