import type { Json } from "../../api/types";
import { Field, INPUT } from "../../kit/parts";
import type { FormField } from "./form";

interface AnswerFieldProps {
  field: FormField;
  value: Json;
  onChange: (value: Json) => void;
}

/** One field of a task's form, as its kind is best filled in. */
export function AnswerField({ field, value, onChange }: AnswerFieldProps) {
  const label = `${field.label}${field.isRequired ? " *" : ""}`;
  switch (field.kind) {
    case "boolean":
      return <Tick label={label} isTicked={value === true} onTick={onChange} />;
    case "choices":
      return <Choices label={label} field={field} value={value} onChange={onChange} />;
    case "choice":
      return (
        <Field label={label} hint={field.hint}>
          <select
            className={INPUT}
            required={field.isRequired}
            value={typeof value === "string" ? value : ""}
            onChange={(change) => onChange(change.target.value || null)}
          >
            <option value="" />
            {field.choices.map((one) => (
              <option key={one.value} value={one.value}>
                {one.label}
              </option>
            ))}
          </select>
        </Field>
      );
    default:
      return <Typed label={label} field={field} value={value} onChange={onChange} />;
  }
}

type LabelledProps = AnswerFieldProps & { label: string };

function Typed({ label, field, value, onChange }: LabelledProps) {
  const isNumber = field.kind !== "text";
  return (
    <Field label={label} hint={field.hint}>
      <input
        className={INPUT}
        required={field.isRequired}
        type={isNumber ? "number" : "text"}
        step={field.kind === "integer" ? 1 : "any"}
        value={value === null ? "" : String(value)}
        onChange={({ target }) =>
          onChange(!isNumber ? target.value : target.value === "" ? null : target.valueAsNumber)
        }
      />
    </Field>
  );
}

function Choices({ label, field, value, onChange }: LabelledProps) {
  const chosen = Array.isArray(value) ? value : [];
  return (
    <fieldset>
      <legend className="text-faint">{label}</legend>
      {field.choices.map((one) => (
        <Tick
          key={one.value}
          label={one.label}
          isTicked={chosen.includes(one.value)}
          onTick={(isTicked) =>
            onChange(isTicked ? [...chosen, one.value] : chosen.filter((other) => other !== one.value))
          }
        />
      ))}
      {field.hint ? <p className="text-faint text-xs">{field.hint}</p> : null}
    </fieldset>
  );
}

interface TickProps {
  label: string;
  isTicked: boolean;
  onTick: (isTicked: boolean) => void;
}

function Tick({ label, isTicked, onTick }: TickProps) {
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" checked={isTicked} onChange={(change) => onTick(change.target.checked)} />
      {label}
    </label>
  );
}
