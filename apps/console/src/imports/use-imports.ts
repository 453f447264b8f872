import type { DataOf, ItemOf } from '@customer-platform/client';
import { NetworkError, ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../api/api.tsx';
import { usePerson, useSession } from '../session/use-session.tsx';
import { useOwnQuery, useReadAnew } from '../ui/queries.ts';
import { saveFile } from '../ui/save-file.ts';

export type Import = DataOf<'get', '/v1/core/imports/{id}'>;
export type ImportSummary = ItemOf<'/v1/core/imports'>;

/** So often one that goes on is looked at, in ms. */
const LOOK_EVERY_MS = 1_000;

export function isOver({ state }: Pick<ImportSummary, 'state'>): boolean {
  return state === 'completed' || state === 'failed';
}

/** An import, looked at again until it has ended. */
export function useImport(id: string) {
  const api = useApi();
  return useOwnQuery({
    queryKey: ['imports', 'one', id],
    queryFn: async ({ signal }): Promise<Import> =>
      (await api.GET('/v1/core/imports/{id}', { params: { path: { id } }, signal })).data,
    refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : LOOK_EVERY_MS),
  });
}

/** What is sent. */
interface Upload {
  options: object;
  file: File;
}

const PATH = '/v1/core/imports';
const CALL = { method: 'POST', path: PATH };

/**
 * Sends a file; `sent` is how much of it has left, from 0 to 1. Not by the client: a large file takes longer than its calls
 * may, and how far it is can be told by XMLHttpRequest alone.
 */
export function useUpload(onTaken: (taken: Import) => void) {
  const session = useSession();
  const { organization } = usePerson();
  const changed = useReadAnew('imports');
  const [sent, setSent] = useState(0);
  const [request, setRequest] = useState<XMLHttpRequest>();
  const mutation = useMutation({
    mutationFn: async ({ options, file }: Upload): Promise<Import> => {
      setSent(0);
      const token = await session.tokensOf(organization.id)();
      const asked = new XMLHttpRequest();
      setRequest(asked);
      return send(asked, token, { options, file }, setSent);
    },
    onSuccess: async (taken) => {
      onTaken(taken);
      await changed();
    },
  });
  return { ...mutation, sent, cancel: () => request?.abort() };
}

function send(
  request: XMLHttpRequest,
  token: string,
  { options, file }: Upload,
  tell: (sent: number) => void,
): Promise<Import> {
  const { promise, resolve, reject } = Promise.withResolvers<Import>();
  const body = new FormData();
  body.append('options', JSON.stringify(options));
  body.append('file', file);
  request.open('POST', PATH);
  request.setRequestHeader('Authorization', `Bearer ${token}`);
  request.upload.onprogress = ({ loaded, total }) => tell(total > 0 ? loaded / total : 0);
  request.onerror = () => reject(new NetworkError(CALL, 'unreachable'));
  request.onabort = () => reject(new DOMException('The upload was ended', 'AbortError'));
  request.onload = () => {
    const { status, responseText: text } = request;
    if (status === 202) resolve(JSON.parse(text) as Import);
    else reject(new ProblemError(CALL, { status, headers: headersOf(request), text }, Date.now()));
  };
  request.send(body);
  return promise;
}

function headersOf(request: XMLHttpRequest): Headers {
  const lines = request.getAllResponseHeaders().trim().split(/\r?\n/);
  return new Headers(
    lines.flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1).trim()] as [string, string]] : [];
    }),
  );
}

/** All errors of an import, as a file of the browser. */
export function useErrorsFile(id: string) {
  const session = useSession();
  const { organization } = usePerson();
  return useMutation({
    mutationFn: async (): Promise<void> => {
      const path = `${PATH}/${id}`;
      const token = await session.tokensOf(organization.id)();
      const headers = { Authorization: `Bearer ${token}`, Accept: 'text/csv' };
      const answer = await fetch(path, { headers, credentials: 'omit' }).catch((cause: unknown) => {
        throw new NetworkError({ method: 'GET', path }, 'unreachable', cause);
      });
      if (!answer.ok) {
        const refusal = { status: answer.status, headers: answer.headers, text: await answer.text() };
        throw new ProblemError({ method: 'GET', path }, refusal, Date.now());
      }
      saveFile(await answer.blob(), `import-${id}-errors.csv`);
    },
  });
}
