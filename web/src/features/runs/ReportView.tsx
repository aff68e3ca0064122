import { useState } from "react";
import { isActive } from "../../api/queries";
import type { Claim, Report, RunDocument, Source, TraceLine } from "../../api/types";
import { shortTime } from "../../kit/format";
import { useWords } from "../../kit/i18n";
import { Markdown, Out, safeAddress } from "../../kit/Markdown";
import { Modal } from "../../kit/Modal";
import { Badge, Button, Card, Empty } from "../../kit/parts";
import { SourceText } from "./SourceText";

interface ReportViewProps {
  run: RunDocument;
  lines: readonly TraceLine[];
  onStep: (seq: number) => void;
}

/** What a run found: its report with sources that open where they are quoted, or its answer. */
export function ReportView({ run, lines, onStep }: ReportViewProps) {
  const say = useWords();
  const [source, setSource] = useState<Source | null>(null);
  if (!run.report) {
    if (run.answer) return <Markdown text={run.answer} />;
    return <Empty title={say(isActive(run) ? "report.notYet" : "report.none")}>{say("report.hint")}</Empty>;
  }
  const toStep = (step: number) => {
    const line = lines.find(
      (one) => one.step === step && (one.kind === "ToolAnswered" || one.kind === "ModelAnswered"),
    );
    if (line) onStep(line.seq);
  };
  return (
    <div className="max-w-3xl space-y-5">
      <Downloads runId={run.run_id} />
      <Text report={run.report} onSource={setSource} onStep={toStep} />
      <Sources sources={run.report.sources} onSource={setSource} />
      <Modal side open={source !== null} onClose={() => setSource(null)} title={source?.title ?? ""}>
        {source ? <SourceDetails source={source} lines={lines} onStep={toStep} /> : null}
      </Modal>
    </div>
  );
}

function Downloads({ runId }: { runId: string }) {
  const say = useWords();
  return (
    <p className="flex flex-wrap gap-3 text-sm">
      {["md", "json", "html"].map((format) => (
        <a
          key={format}
          className="whitespace-nowrap text-accent underline"
          href={`/api/runs/${encodeURIComponent(runId)}/report?format=${format}&download=true`}
          download
        >
          {say("report.download", {
            format: { md: "Markdown", json: "JSON", html: "HTML" }[format] ?? format,
          })}
        </a>
      ))}
    </p>
  );
}

interface TextProps {
  report: Report;
  onSource: (source: Source) => void;
  onStep: (step: number) => void;
}

function Text({ report, onSource, onStep }: TextProps) {
  const say = useWords();
  return (
    <>
      <h2 className="font-semibold text-xl">{report.title}</h2>
      {report.outcome === "partial" ? <Badge tone="warn">{say("state.partial")}</Badge> : null}
      <p className="whitespace-pre-wrap">{report.summary}</p>
      {report.sections.map((section) => (
        <section key={section.heading}>
          <h3 className="mb-1 font-semibold">{section.heading}</h3>
          <ul className="list-disc space-y-1 ps-5">
            {section.claims.map((claim) => (
              <li key={claim.text}>
                <ClaimText claim={claim} sources={report.sources} onSource={onSource} onStep={onStep} />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {report.limits.length ? (
        <Card>
          <h3 className="mb-1 font-semibold">{say("report.limits")}</h3>
          <ul className="list-disc ps-5 text-sm">
            {report.limits.map((limit) => (
              <li key={limit}>{limit}</li>
            ))}
          </ul>
        </Card>
      ) : null}
    </>
  );
}

interface ClaimTextProps {
  claim: Claim;
  sources: Source[];
  onSource: (source: Source) => void;
  onStep: (step: number) => void;
}

function ClaimText({ claim, sources, onSource, onStep }: ClaimTextProps) {
  const say = useWords();
  const cited = claim.sources
    .map((id) => sources.find((source) => source.id === id))
    .filter((source) => !!source);
  return (
    <>
      {claim.text}{" "}
      {cited.map((source) => (
        <button
          key={source.id}
          type="button"
          className="cursor-pointer text-accent text-sm underline"
          title={source.title}
          onClick={() => onSource(source)}
        >
          [{source.id}]
        </button>
      ))}
      <span className="text-faint text-xs">
        {claim.confidence !== null ? ` ${Math.round(claim.confidence * 100)}%` : ""}
        {claim.steps.map((step) => (
          <button
            key={step}
            type="button"
            className="ms-1 cursor-pointer underline"
            onClick={() => onStep(step)}
          >
            {say("timeline.step", { step })}
          </button>
        ))}
      </span>
    </>
  );
}

function Sources({ sources, onSource }: { sources: Source[]; onSource: (source: Source) => void }) {
  const say = useWords();
  return (
    <section>
      <h3 className="mb-1 font-semibold">{say("report.sources")}</h3>
      <ol className="space-y-1 text-sm">
        {sources.map((source) => (
          <li key={source.id}>
            <Button look="quiet" className="text-start" onClick={() => onSource(source)}>
              <b>{source.id}</b> {source.title}
            </Button>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface SourceDetailsProps {
  source: Source;
  lines: readonly TraceLine[];
  onStep: (step: number) => void;
}

function SourceDetails({ source, lines, onStep }: SourceDetailsProps) {
  const say = useWords();
  const { step, found_by: found } = source;
  return (
    <div className="space-y-3 text-sm">
      <p className="break-all text-faint">
        {safeAddress(source.url) ? <Out address={source.url}>{source.url}</Out> : source.url}
      </p>
      <p className="text-faint">{say("report.fetched", { at: shortTime(source.fetched_at) })}</p>
      {found?.query ? <p>{say("report.foundBy", { query: found.query })}</p> : null}
      {step !== null ? <Button onClick={() => onStep(step)}>{say("report.toStep", { step })}</Button> : null}
      <SourceText source={source} lines={lines} />
    </div>
  );
}
