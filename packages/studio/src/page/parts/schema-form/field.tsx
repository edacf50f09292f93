/** One value of a form: the control of its schema, or its JSON where that says more or somebody asks for it. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../button.tsx";
import { VisibleText } from "../value-view/visible-text.tsx";
import { BoxControl, ButtonsControl, isBox, isButtons, SelectControl } from "./choice-controls.tsx";
import type { FieldProps } from "./field-context.ts";
import { FieldNote, FieldProblems, hasNote, useFieldPlace } from "./field-frame.tsx";
import { hasUnread } from "./form-value.ts";
import { ListControl, ObjectControl } from "./group-controls.tsx";
import { canShow, isSecret, newItem, type Shape, shapeOf } from "./shape.ts";
import { JsonControl, NumberControl, TextControl } from "./text-controls.tsx";

/** Shows a value and takes changes of it. */
export function Field(props: FieldProps): ComponentChildren {
  const { schema, root, value } = props;
  const shape = shapeOf(schema, root);
  const [isAsked, setAsked] = useState(false);
  const isMisfit = !(canShow(shape, value) || (shape.isNullable && value === null));
  const isJson = isAsked || isMisfit || shape.control === "json";
  const toggle = shape.control !== "json" && (
    <Button
      class="quiet"
      aria-label={`${props.name} as JSON`}
      title={isMisfit ? "This value can only be edited as JSON" : "As JSON"}
      aria-pressed={isJson}
      disabled={isMisfit || hasUnread(value)}
      onClick={() => setAsked(!isAsked)}
    >
      {"{}"}
    </Button>
  );
  const isGroup =
    !isJson && (shape.control === "object" || shape.control === "list" || isChoice(props, shape));
  return isGroup ? (
    <GroupField {...props} shape={shape} toggle={toggle} />
  ) : (
    <SingleField {...props} shape={shape} toggle={toggle} isJson={isJson} />
  );
}

interface ShownProps extends FieldProps {
  readonly shape: Shape;
  readonly toggle: ComponentChildren;
}

function SingleField(props: ShownProps & { readonly isJson: boolean }): ComponentChildren {
  const { name, pointer, shape, toggle, isJson, value, isRequired, onChange } = props;
  const { schema } = shape;
  const place = useFieldPlace(pointer, { hasNote: hasNote(schema), isWhole: true });
  const { id } = place.control;
  const given = { name, shape, value, isRequired, onChange, control: place.control };
  const box = !isJson && isBox(given);
  return (
    <div class={box ? "field field-box" : "field"}>
      <div class="field-head">
        {box && <BoxControl {...given} />}
        <label for={id}>
          <VisibleText text={name} />
        </label>
        {isRequired && !box && <span class="muted field-needed">required</span>}
        {toggle}
      </div>
      {isJson ? (
        <JsonControl {...given} isHidden={isSecret(schema)} />
      ) : box ? null : shape.control === "number" ? (
        <NumberControl {...given} />
      ) : shape.control === "choice" || shape.control === "boolean" ? (
        <SelectControl {...given} />
      ) : (
        <TextControl {...given} />
      )}
      <FieldProblems id={id} pointer={pointer} findings={place.findings} />
      <FieldNote id={id} schema={schema} />
    </div>
  );
}

function GroupField(props: ShownProps): ComponentChildren {
  const { name, pointer, root, shape, toggle, value, isRequired, onChange } = props;
  const { schema } = shape;
  const place = useFieldPlace(pointer, { hasNote: hasNote(schema), isWhole: false });
  const { id, ...described } = place.control;
  const isButtonsGroup = isChoice(props, shape);
  const isAbsent = shape.control === "object" && (value === undefined || value === null);
  const empty = shape.isNullable ? null : undefined;
  return (
    <fieldset
      id={id}
      class={isButtonsGroup ? "field field-group field-choice" : "field field-group"}
      aria-describedby={described["aria-describedby"]}
      {...(isButtonsGroup && {
        role: "radiogroup",
        "aria-required": isRequired ? true : undefined,
        "aria-invalid": described["aria-invalid"],
      })}
    >
      <legend>
        <VisibleText text={name} />
      </legend>
      <div class="field-corner">
        {!isButtonsGroup &&
          (!isRequired || shape.isNullable) &&
          value !== undefined &&
          value !== null && (
            <Button class="quiet" aria-label={`Clear ${name}`} onClick={() => onChange(empty)}>
              ✕
            </Button>
          )}
        {toggle}
      </div>
      <FieldNote id={id} schema={schema} />
      {isButtonsGroup ? (
        <ButtonsControl {...{ name, shape, value, isRequired, onChange, control: place.control }} />
      ) : isAbsent ? (
        <p class="muted">
          {value === null ? "null" : "Not set."}{" "}
          <Button onClick={() => onChange(newItem({ ...schema, default: undefined }, root) ?? {})}>
            Add {name}
          </Button>
        </p>
      ) : shape.control === "object" ? (
        <ObjectControl {...props} />
      ) : (
        <ListControl {...props} />
      )}
      <FieldProblems id={id} pointer={pointer} findings={place.findings} />
    </fieldset>
  );
}

function isChoice(props: FieldProps, shape: Shape): boolean {
  const { isRequired } = props;
  const isChosen = shape.control === "choice" || shape.control === "boolean";
  return isChosen && isButtons({ shape, isRequired });
}
