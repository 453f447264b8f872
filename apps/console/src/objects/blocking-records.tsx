import { ProblemError } from '@customer-platform/client';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { Note } from '../ui/notices.tsx';
import type { ObjectField } from './object.ts';

interface BlockingRecordsProps {
  error: unknown;
  fields: readonly ObjectField[];
}

/** Records that stand in the way of a change: how many, of which field, and what works instead. */
export function BlockingRecords({ error, fields }: BlockingRecordsProps): ReactNode {
  const t = useTranslations('objects');
  if (!(error instanceof ProblemError)) return null;
  if (error.code !== 'field_in_use' && error.code !== 'records_incompatible') return null;
  const { field: key = '', count = 0 } = error.body as { field?: string; count?: number };
  const field = fields.find((each) => each.key === key)?.label ?? key;
  return (
    <Note tone="warn">{t(error.code === 'field_in_use' ? 'inUse' : 'incompatible', { field, count })}</Note>
  );
}
