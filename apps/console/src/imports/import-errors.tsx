import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { Button } from '../ui/button.tsx';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { useList } from '../ui/list.ts';
import { Empty, Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useErrorsFile, type Import } from './use-imports.ts';

type RowError = Import['errors']['data'][number];

/** What is wrong with the rows, in the order of the file, and all of it as a file. */
export function ImportErrors({ id }: { id: string }): ReactNode {
  const t = useTranslations('imports');
  const api = useApi();
  const file = useErrorsFile(id);
  const list = useList<RowError>(['imports', 'errors', id], async (cursor, signal) => {
    const params = { path: { id }, query: { cursor } };
    return (await api.GET('/v1/core/imports/{id}', { params, signal })).data.errors;
  });
  return (
    <Section
      title={t('errors')}
      actions={
        list.items.length > 0 && (
          <Button busy={file.isPending} onClick={() => file.mutate()}>
            <Download aria-hidden className="size-4" />
            {t('asCsv')}
          </Button>
        )
      }
    >
      {file.error !== null && <Failure error={file.error} />}
      <DataTable
        label={t('errors')}
        list={list}
        columns={useColumns()}
        keyOf={({ line, column, code }) => `${line} ${column ?? ''} ${code}`}
        empty={<Empty title={t('noErrors')} />}
      />
    </Section>
  );
}

function useColumns(): Column<RowError>[] {
  const t = useTranslations('imports');
  return [
    { id: 'line', header: t('line'), end: true, cell: ({ line }) => line },
    { id: 'column', header: t('column'), cell: ({ column }) => <bdi>{column ?? '–'}</bdi> },
    { id: 'code', header: t('code'), cell: ({ code }) => <code className="font-mono text-xs">{code}</code> },
    { id: 'value', header: t('value'), cell: ({ value }) => <bdi>{value ?? '–'}</bdi> },
    // As the API words it.
    { id: 'detail', header: t('expected'), cell: ({ detail }) => <bdi lang="en">{detail ?? '–'}</bdi> },
  ];
}
