import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Field } from '../ui/form.tsx';
import { useNumberText, type NumberText } from '../ui/number-field.tsx';
import { NO_NUMBER } from '../ui/number-text.ts';
import { inOneUnit, UNITS, written, type Unit } from './duration.ts';
import type { Fault } from '../ui/problem-at.ts';

interface DurationFieldProps {
  label: string;
  /** ISO 8601. */
  value: string;
  error: Fault | undefined;
  onChange: (value: string) => void;
}

/** Reads an amount by the page's language; what is no number stands for none. */
function useAmount(plain: string, onChange: (plain: string) => void): NumberText {
  const held = (read: string): string => (Number.isFinite(Number(read)) ? read : NO_NUMBER);
  return useNumberText(plain, onChange, { min: 1, held });
}

/** A length of time as a number and a unit; one of several units as it is written. */
export function DurationField({ label, value, error, onChange }: DurationFieldProps): ReactNode {
  const t = useTranslations('segments');
  const said = inOneUnit(value);
  const amount = useAmount(said?.amount ?? '', (changed) => onChange(written(changed, said?.unit ?? 'days')));
  const { understood, fault } = amount;
  return (
    <Field label={label} {...(understood === undefined ? {} : { hint: understood })} error={fault ?? error}>
      {(tie) =>
        said === undefined ? (
          <input
            className="field font-mono"
            autoComplete="off"
            value={value}
            onChange={({ target }) => onChange(target.value)}
            {...tie}
          />
        ) : (
          <span className="flex gap-1">
            <input
              className="field"
              autoComplete="off"
              inputMode="numeric"
              value={amount.text}
              onChange={({ target }) => amount.type(target.value)}
              {...tie}
              ref={amount.ref}
            />
            <select
              aria-label={t('unit')}
              className="field w-auto!"
              value={said.unit}
              onChange={({ target }) => onChange(written(said.amount, target.value as Unit))}
            >
              {UNITS.map((unit) => (
                <option key={unit} value={unit}>
                  {t(`units.${unit}`)}
                </option>
              ))}
            </select>
          </span>
        )
      }
    </Field>
  );
}
