import type { Client } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../api/api.tsx';
import { saveFile } from '../ui/save-file.ts';
import { auditQuery, headOf, lineOf, type Format } from './audit-log.ts';
import type { AuditFilters } from './search-params.ts';

const PAGE = 200;
/** About 100 MB as JSON lines. A log that is longer is exported by parts, from one instant to another. */
export const MOST_ROWS = 200_000;

interface Exported {
  rows: number;
  /** There are more than one file may have. */
  cut: boolean;
}

/** Reads all that the filters let through and hands it over as a file; `rows` says how far it is. */
export function useExport() {
  const api = useApi();
  const [rows, setRows] = useState(0);
  const [ending, setEnding] = useState<AbortController>();
  const mutation = useMutation({
    mutationFn: async ({ filters, format }: { filters: AuditFilters; format: Format }) => {
      const end = new AbortController();
      setEnding(end);
      setRows(0);
      const { parts, ...exported } = await readAll(api, filters, format, end.signal, setRows);
      const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
      saveFile(new Blob(parts, { type: `${type};charset=utf-8` }), `audit-log.${format}`);
      return exported;
    },
  });
  return { ...mutation, rows, cancel: () => ending?.abort() };
}

async function readAll(
  api: Client,
  filters: AuditFilters,
  format: Format,
  signal: AbortSignal,
  tell: (rows: number) => void,
): Promise<Exported & { parts: string[] }> {
  // In the order in which it was written, as the chain is proved.
  const query = { ...auditQuery(filters), sort: 'seq', limit: PAGE };
  const parts = [headOf(format)];
  let rows = 0;
  for await (const { data } of api.pages('/v1/core/audit-log', { params: { query }, signal })) {
    parts.push(data.map((row) => lineOf(row, format)).join(''));
    rows += data.length;
    tell(rows);
    if (rows >= MOST_ROWS) return { parts, rows, cut: true };
  }
  return { parts, rows, cut: false };
}
