import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { ContactName } from '../people/person.tsx';
import { Button } from '../ui/button.tsx';
import { Note } from '../ui/notices.tsx';
import type { Outcome } from './use-attributes.ts';

interface ForecastProps {
  outcome: Outcome;
  /** Of what goes on and takes these values away. */
  action: string;
  onClear: () => void;
  busy: boolean;
}

/** What would be lost, with some of it, and the way on that takes it away. */
export function Forecast({ outcome, action, onClear, busy }: ForecastProps): ReactNode {
  const t = useTranslations('attributes');
  const { convertible, unconvertible, complete, samples } = outcome;
  return (
    <Note tone="warn" unsent>
      <div className="flex flex-col gap-3">
        <p className="font-medium">{t('wouldBeLost', { count: unconvertible })}</p>
        <p>{t('stays', { count: convertible })}</p>
        {!complete && <p>{t('soFar')}</p>}
        {samples.length > 0 && (
          <ul className="flex flex-col gap-1">
            {samples.map(({ contact_id: contact, value }) => (
              <li key={contact}>
                <ContactName id={contact} /> <code className="font-mono text-xs wrap-anywhere">{value}</code>
              </li>
            ))}
          </ul>
        )}
        <div>
          <Button look="danger" busy={busy} onClick={onClear}>
            {action}
          </Button>
        </div>
      </div>
    </Note>
  );
}
