/** Controls for values that hold others: objects and lists. */
import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import type { ComponentChildren } from "preact";
import { useContext, useEffect, useRef } from "preact/hooks";
import { Button } from "../button.tsx";
import { VisibleText } from "../value-view/visible-text.tsx";
import { type FieldProps, FormContext, fieldId } from "./field-context.ts";
import { memberOf, moved, withMember } from "./form-value.ts";
import { emptyItem, newItem, type Shape } from "./shape.ts";

/** Properties of a group: its field, and its resolved schema. */
export interface GroupProps extends FieldProps {
  readonly shape: Shape;
}

/** One member of an object, or of a form. */
export interface FormMember extends Pick<FieldProps, "name" | "schema" | "root" | "isRequired"> {}

/** The members that a schema names. */
export function membersOf({ properties, required }: JsonSchema, root: JsonSchema): FormMember[] {
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    schema: schema as Json,
    root,
    isRequired: needed.has(name),
  }));
}

/** Members as fields; others are named. */
export function Members({
  members,
  pointer,
  value,
  onChange,
}: Pick<FieldProps, "pointer" | "value"> & {
  readonly members: readonly FormMember[];
  readonly onChange: (value: Json) => void;
}): ComponentChildren {
  const Field = useContext(FormContext)?.Field;
  const latest = useRef(value);
  latest.current = value;
  if (Field === undefined) return null;
  const others = Object.keys(isObject(value) ? value : {}).filter(
    (name) => !members.some((member) => member.name === name),
  );
  return (
    <>
      {members.map((member) => (
        <Field
          key={member.name}
          {...member}
          pointer={pointer + pointerSegment(member.name)}
          value={memberOf(value, member.name)}
          onChange={(next) => {
            const object = isObject(latest.current) ? (latest.current as JsonObject) : {};
            const changed = withMember(object, member.name, next);
            latest.current = changed;
            onChange(changed);
          }}
        />
      ))}
      {others.length > 0 && (
        <p class="muted field-note">
          Also holds <VisibleText text={others.join(", ")} />: change it as JSON.
        </p>
      )}
    </>
  );
}

/** The members of an object: those of the schema as fields, others by name. */
export function ObjectControl(props: GroupProps): ComponentChildren {
  const { shape, pointer, value, root, onChange } = props;
  const members = membersOf(shape.schema, root);
  return <Members members={members} pointer={pointer} value={value} onChange={onChange} />;
}

/** The items of a list, which can be added, removed and moved. */
export function ListControl(props: GroupProps): ComponentChildren {
  const { name, pointer, shape, root, value, onChange } = props;
  const { id: form = "", Field } = useContext(FormContext) ?? {};
  const items = Array.isArray(value) ? (value as readonly Json[]) : [];
  const schema = shape.schema["items"];
  const id = fieldId(form, pointer);
  const target = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (target.current !== undefined) document.getElementById(target.current)?.focus();
    target.current = undefined;
  });
  if (Field === undefined) return null;
  const move = (from: number, to: number): void => {
    target.current = `${id}.${to < from ? "up" : "down"}.${to}`;
    onChange(moved(items, from, to));
  };
  return (
    <>
      {items.map((item, at) => {
        const label = `${name} ${at + 1}`;
        return (
          <div key={at} class="field-item">
            <Field
              name={label}
              pointer={`${pointer}/${at}`}
              schema={schema}
              root={root}
              value={item}
              isRequired
              onChange={(next) => onChange(items.with(at, next ?? emptyItem(schema, root)))}
            />
            <span class="field-item-actions">
              <Button
                class="quiet"
                id={`${id}.up.${at}`}
                aria-label={`Move ${label} up`}
                disabled={at === 0}
                onClick={() => move(at, at - 1)}
              >
                ↑
              </Button>
              <Button
                class="quiet"
                id={`${id}.down.${at}`}
                aria-label={`Move ${label} down`}
                disabled={at === items.length - 1}
                onClick={() => move(at, at + 1)}
              >
                ↓
              </Button>
              <Button
                class="quiet"
                aria-label={`Remove ${label}`}
                onClick={() => {
                  target.current = `${id}.add`;
                  onChange(items.toSpliced(at, 1));
                }}
              >
                ✕
              </Button>
            </span>
          </div>
        );
      })}
      <Button
        id={`${id}.add`}
        onClick={() => {
          target.current = fieldId(form, `${pointer}/${items.length}`);
          onChange([...items, newItem(schema, root)]);
        }}
      >
        Add to {name}
      </Button>
      {value !== undefined && items.length === 0 && <span class="muted"> No items.</span>}
    </>
  );
}
