import Renderer, { type Components } from "react-markdown";
import gfm from "remark-gfm";
import { useWords } from "./i18n";

/**
 * Text of a model or tool as Markdown.
 *
 * HTML in it stays text. Images are not fetched, and links lead out only when a person follows one: both are shown with
 * their address, so that a text cannot send anything anywhere by being looked at.
 */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      <Renderer remarkPlugins={[gfm]} components={COMPONENTS} urlTransform={safeAddress} skipHtml={false}>
        {text}
      </Renderer>
    </div>
  );
}

/** The address when it is one a person may follow, or nothing. */
export function safeAddress(address: string): string {
  try {
    const parsed = new URL(address);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : "";
  } catch {
    return "";
  }
}

function Image({ alt, src }: { alt?: string; src?: string | Blob }) {
  const say = useWords();
  const address = typeof src === "string" ? safeAddress(src) : "";
  return (
    <span className="rounded border border-line px-1 text-faint text-sm">
      {say("markdown.image", { name: alt || "?" })} {address ? <Out address={address}>{address}</Out> : null}
    </span>
  );
}

/** A link to somewhere else: it tells that place nothing and opens beside the page. */
export function Out({ address, children }: { address: string; children: React.ReactNode }) {
  const safe = safeAddress(address);
  if (!safe) return <span>{children}</span>;
  return (
    <a
      href={safe}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={safe}
      className="text-accent underline"
    >
      {children}
    </a>
  );
}

const COMPONENTS: Components = {
  a: ({ href, children }) => (href ? <Out address={href}>{children}</Out> : <span>{children}</span>),
  img: ({ alt, src }) => <Image alt={alt} src={src} />,
};
