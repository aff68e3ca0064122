import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMay } from "../../api/session";
import { useWords } from "../../kit/i18n";
import { Badge } from "../../kit/parts";
import { deadLettersQuery } from "./queries";

/** How many notifications could not be delivered; 0 for those who may not see them. */
function useDeadLetters(): number {
  const isAdmin = useMay("admin");
  const dead = useQuery({ ...deadLettersQuery(), enabled: isAdmin });
  return dead.data?.background_tasks.length ?? 0;
}

/** Says on every page that notifications could not be delivered. */
export function DeadLetterBanner() {
  const say = useWords();
  const number = useDeadLetters();
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

/** Their number beside the place where they are listed. */
export function DeadLetterBadge() {
  const number = useDeadLetters();
  return number === 0 ? null : (
    <span className="ms-2">
      <Badge tone="bad">{number}</Badge>
    </span>
  );
}
