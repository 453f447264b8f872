import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useFormatter, useLocale, useTranslations } from 'use-intl';
import { TextArea } from './form.tsx';
import { useUnderstood } from './number-field.tsx';
import { plainLines, writtenLines } from './number-text.ts';
import type { Fault } from './problem-at.ts';

interface NumberLinesProps {
  label: string;
  hint: string;
  error?: Fault | undefined;
  /** Numbers as JSON writes them, one a line. */
  value: string;
  onChange: (value: string) => void;
}

/** Numbers, one a line, as the page's language writes them. */
export function NumberLines({ label, hint, error, value, onChange }: NumberLinesProps): ReactNode {
  const t = useTranslations('ui');
  const locale = useLocale();
  const { number } = useFormatter();
  const understood = useUnderstood();
  const ref = useRef<HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState({ text: '', value: '' });
  const text = typed.value === value ? typed.text : writtenLines(value, locale);
  const plain = value.split('\n');
  const wrong = plain.some((line) => line !== '' && !Number.isFinite(Number(line)));
  const fault = wrong ? t('noNumber', { example: number(12_345.6) }) : undefined;
  useEffect(() => ref.current?.setCustomValidity(fault ?? ''), [fault]);
  const lines = text.split('\n').map((line) => line.trim());
  const said = [...new Set(lines.map((line, at) => understood(line, plain[at] ?? '')))].filter(
    (line) => line !== undefined,
  );
  return (
    <TextArea
      ref={ref}
      label={label}
      hint={[hint, ...said].join(' ')}
      error={error ?? fault}
      value={text}
      onChange={({ target }) => {
        const read = plainLines(target.value, locale);
        setTyped({ text: target.value, value: read });
        onChange(read);
      }}
    />
  );
}
