import { useId, type ComponentProps, type ReactNode } from 'react';
import { fromLocal, toLocal } from './local-instant.ts';
import type { Fault } from './problem-at.ts';
import { FaultText } from './problem-words.tsx';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: Fault | undefined;
  /** Gets the ids that tie it to its label, hint and error. */
  children: (tie: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ReactNode;
}

/** A label, a control, what to know about it, and what is wrong with it. */
export function Field({ label, hint, error, children }: FieldProps): ReactNode {
  const id = useId();
  const said = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': said === '' ? undefined : said,
        'aria-invalid': error !== undefined,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-soft">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-xs text-bad">
          <FaultText fault={error} />
        </p>
      )}
    </div>
  );
}

type Said = Omit<FieldProps, 'children'>;

export function TextField({ label, hint, error, ...rest }: Said & ComponentProps<'input'>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      {(tie) => <input className="field" autoComplete="off" {...tie} {...rest} />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  className,
  ...rest
}: Said & ComponentProps<'textarea'>): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      {(tie) => <textarea className={`field ${className ?? ''}`} rows={4} {...tie} {...rest} />}
    </Field>
  );
}

interface SelectProps extends Said, Omit<ComponentProps<'select'>, 'children'> {
  options: readonly { value: string; label: string }[];
}

/** The browser's own list: best with keyboards, phones and screen readers. */
export function Select({ label, hint, error, options, ...rest }: SelectProps): ReactNode {
  return (
    <Field label={label} hint={hint} error={error}>
      {(tie) => (
        <select className="field" {...tie} {...rest}>
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface InstantFieldProps extends Said {
  /** With its zone, as the API takes it; empty for none. */
  value: string;
  onChange: (value: string) => void;
  required?: boolean;
}

/** A day and a time in the zone of whoever writes. */
export function InstantField({ value, onChange, required = false, ...said }: InstantFieldProps): ReactNode {
  return (
    <TextField
      {...said}
      type="datetime-local"
      required={required}
      value={toLocal(value)}
      onChange={({ target }) => onChange(fromLocal(target.value) ?? '')}
    />
  );
}

export function Checkbox({ label, ...rest }: { label: ReactNode } & ComponentProps<'input'>): ReactNode {
  return (
    <label className="flex min-h-7 items-center gap-2">
      <input type="checkbox" className="size-4 shrink-0 accent-accent" {...rest} />
      <span>{label}</span>
    </label>
  );
}

interface SwitchProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

/** Takes effect at once; a choice that is sent with others is a checkbox. */
export function Switch({ label, checked, onChange, disabled }: SwitchProps): ReactNode {
  return (
    <label className="flex min-h-7 items-center gap-2">
      <input
        type="checkbox"
        role="switch"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        className="flex h-5 w-9 shrink-0 appearance-none items-center rounded-full border border-edge bg-canvas p-0.5 before:size-3.5 before:rounded-full before:bg-edge before:transition-transform before:duration-100 checked:border-accent checked:bg-accent checked:before:translate-x-4 checked:before:bg-on-accent"
      />
      <span>{label}</span>
    </label>
  );
}
