import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Select } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import type { Format } from './audit-log.ts';
import type { AuditFilters } from './search-params.ts';
import { MOST_ROWS, useExport } from './use-export.ts';

/** What the filters let through, as a file. */
export function ExportLog({ filters, onClose }: { filters: AuditFilters; onClose: () => void }): ReactNode {
  const t = useTranslations('audit');
  const [format, setFormat] = useState<Format>('jsonl');
  const { mutate, data, error, isPending, rows, cancel } = useExport();
  const close = (): void => {
    cancel();
    onClose();
  };
  return (
    <Dialog open onClose={close} title={t('export')} lead={t('exportLead')}>
      <Select
        label={t('format')}
        value={format}
        disabled={isPending}
        onChange={({ target }) => setFormat(target.value === 'csv' ? 'csv' : 'jsonl')}
        options={[
          { value: 'jsonl', label: t('formats.jsonl') },
          { value: 'csv', label: t('formats.csv') },
        ]}
      />
      {error !== null && !isAbort(error) && <Failure error={error} />}
      {isPending && (
        <Note>
          {t('reading', { count: rows })} <progress className="ml-2 align-middle" />
        </Note>
      )}
      {data !== undefined && (
        <Note tone={data.cut ? 'warn' : 'good'}>
          {t('exported', { count: data.rows })} {data.cut && t('cut', { count: MOST_ROWS })}
        </Note>
      )}
      <DialogActions>
        <Button onClick={close}>{t(data === undefined ? 'cancel' : 'done')}</Button>
        {data === undefined && (
          <Button look="main" busy={isPending} onClick={() => mutate({ filters, format })}>
            {t('export')}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
