import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { useFormatter, useLocale, useTranslations } from 'use-intl';
import { Field } from './form.tsx';
import { plainOf, writeNumber } from './number-text.ts';
import type { Fault } from './problem-at.ts';

const EVERY_DIGIT = { maximumFractionDigits: 20 } as const;

/**
 * Says in the page's language which number was read of what was typed, which a draft holds as JSON writes it; nothing of
 * digits that stand as they are read.
 */
export function useUnderstood(): (typed: string, plain: string) => string | undefined {
  const t = useTranslations('ui');
  const { number } = useFormatter();
  return (typed, plain) => {
    const read = Number(plain);
    if (plain.trim() === '' || !Number.isFinite(read)) return undefined;
    const written = number(read, EVERY_DIGIT);
    return written === typed && /^-?\d*$/.test(typed) ? undefined : t('understood', { number: written });
  };
}

/** The bounds of a number. */
export interface NumberBounds {
  min?: number | undefined;
  max?: number | undefined;
  /** True where it may have a part behind the decimal mark. */
  fraction?: boolean;
}

interface Holding extends NumberBounds {
  /** Makes of a text that was read what the draft holds; unless given, the text as JSON would have it. */
  held?: (plain: string) => string;
}

/** A text field that is read as a number. */
export interface NumberText {
  /** The text of the field. */
  text: string;
  understood: string | undefined;
  /** The fault of the text; the form is not sent while there is one. */
  fault: string | undefined;
  ref: RefObject<HTMLInputElement | null>;
  type: (typed: string) => void;
}

/** A field in which a number is typed as the page's language writes it, and which holds it as JSON does. */
export function useNumberText(
  value: string,
  onChange: (value: string) => void,
  { held = (plain) => plain, ...bounds }: Holding = {},
): NumberText {
  const locale = useLocale();
  const understood = useUnderstood();
  const faultOf = useFault(bounds);
  const ref = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState({ text: '', value: '' });
  // What was typed stands as long as the draft holds what was read of it.
  const text = typed.value === value ? typed.text : writeNumber(value, locale);
  const fault = text.trim() === '' ? undefined : faultOf(Number(value));
  useEffect(() => ref.current?.setCustomValidity(fault ?? ''), [fault]);
  return {
    text,
    understood: understood(text, value),
    fault,
    ref,
    type: (changed) => {
      const plain = held(plainOf(changed, locale));
      setTyped({ text: changed, value: plain });
      onChange(plain);
    },
  };
}

function useFault({ min, max, fraction = false }: NumberBounds): (read: number) => string | undefined {
  const t = useTranslations('ui');
  const { number } = useFormatter();
  return (read) => {
    if (!Number.isFinite(read)) return t('noNumber', { example: number(12_345.6) });
    if (!fraction && !Number.isInteger(read)) return t('noWhole');
    if (min !== undefined && read < min) return t('tooLow', { min: number(min, EVERY_DIGIT) });
    if (max !== undefined && read > max) return t('tooHigh', { max: number(max, EVERY_DIGIT) });
    return undefined;
  };
}

interface NumberFieldProps extends NumberBounds {
  label: string;
  hint?: ReactNode;
  error?: Fault | undefined;
  /** The number as JSON writes it; empty for none. */
  value: string;
  onChange: (value: string) => void;
  required?: boolean;
  readOnly?: boolean;
  placeholder?: string;
}

/** A number: a whole one unless `fraction`. */
export function NumberField(props: NumberFieldProps): ReactNode {
  const { label, hint, error, value, onChange, min, max, fraction = false, ...rest } = props;
  const { text, understood, fault, ref, type } = useNumberText(value, onChange, { min, max, fraction });
  const said =
    understood === undefined ? (
      hint
    ) : (
      <>
        {hint} {understood}
      </>
    );
  return (
    <Field label={label} {...(said === undefined ? {} : { hint: said })} error={error ?? fault}>
      {(tie) => (
        <input
          className="field"
          autoComplete="off"
          inputMode={fraction || min === undefined || min < 0 ? 'text' : 'numeric'}
          {...tie}
          {...rest}
          ref={ref}
          value={text}
          onChange={({ target }) => type(target.value)}
        />
      )}
    </Field>
  );
}
