import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { ImportErrors } from './import-errors.tsx';
import { ImportState, Outcome } from './outcome.tsx';
import { isOver, useImport, type Import } from './use-imports.ts';

/** One import: how far it is, what became of its rows, and how it was read. */
export function ImportPanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('imports');
  const { data, error, refetch } = useImport(id);
  return (
    <Dialog open onClose={onClose} place="side" title={t('import')}>
      {data === undefined && error !== null && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && error === null && <div aria-busy className="bones h-64" />}
      {data !== undefined && <Opened read={data} />}
    </Dialog>
  );
}

function Opened({ read }: { read: Import }): ReactNode {
  const t = useTranslations('imports');
  const { options } = read;
  return (
    <>
      <div>
        <ImportState of={read} />
      </div>
      <Outcome of={read} />
      {isOver(read) && <ImportErrors id={read.id} />}
      <Section title={t('howRead')}>
        <Details>
          <Detail name={t('matchBy')}>
            <code className="font-mono text-xs">{options.match_by}</code>
          </Detail>
          <Detail name={t('onExisting')}>{t(`existing.${options.on_existing ?? 'update'}`)}</Detail>
          <Detail name={t('begun')}>
            <Time at={read.created_at} />
          </Detail>
          {Object.entries(options.mapping).map(([column, field]) => (
            <Detail key={column} name={column}>
              {field === null ? t('leftOut') : <code className="font-mono text-xs">{field}</code>}
            </Detail>
          ))}
          <Detail name={t('id')}>
            <Id value={read.id} />
          </Detail>
        </Details>
      </Section>
    </>
  );
}
