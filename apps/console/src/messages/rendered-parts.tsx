import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Checkbox } from '../ui/form.tsx';
import { Code } from '../ui/json.tsx';
import { MailFrame } from './mail-frame.tsx';
import type { Scheme } from './mail-scheme.ts';

interface RenderedPartsProps {
  parts: Record<string, string>;
  segments: number | null;
}

/** A message as it would be sent, part by part. */
export function RenderedParts({ parts, segments }: RenderedPartsProps): ReactNode {
  const t = useTranslations('messages');
  return (
    <>
      {segments !== null && <p className="text-soft">{t('smsSegments', { count: segments })}</p>}
      {Object.entries(parts).map(([part, text]) => (
        <div key={part} className="min-w-0">
          <h3 className="mb-1 text-xs font-medium">
            {t.has(`parts.${part}` as 'parts.subject') ? t(`parts.${part}` as 'parts.subject') : part}
          </h3>
          {part === 'html' ? <Mail html={text} /> : <Code text={text} label={part} />}
        </div>
      ))}
    </>
  );
}

/** The mail as it is seen by day and by night. */
function Mail({ html }: { html: string }): ReactNode {
  const t = useTranslations('messages');
  const [scheme, setScheme] = useState<Scheme>('light');
  return (
    <div className="flex flex-col gap-2">
      <Checkbox
        label={t('darkScheme')}
        checked={scheme === 'dark'}
        onChange={({ target }) => setScheme(target.checked ? 'dark' : 'light')}
      />
      <MailFrame html={html} title={t('mailFrame')} scheme={scheme} />
    </div>
  );
}
