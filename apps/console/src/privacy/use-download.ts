import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { usePerson, useSession } from '../session/use-session.tsx';
import { saveFile } from '../ui/save-file.ts';

const ZIP = 'application/zip';

/** Hands over the archive of a request as a file; each time is in the audit log. */
export function useDownload(id: string) {
  const session = useSession();
  const { organization } = usePerson();
  return useMutation({
    mutationFn: async () => {
      const token = session.tokensOf(organization.id);
      const path = `/v1/core/subject-requests/${id}`;
      const ask = async (renew: boolean): Promise<Response> =>
        fetch(path, {
          credentials: 'omit',
          headers: { accept: ZIP, authorization: `Bearer ${await token({ renew })}` },
        });
      let response = await ask(false);
      if (response.status === 401) response = await ask(true);
      const { ok, status, headers } = response;
      if (!ok)
        throw new ProblemError(
          { method: 'GET', path },
          { status, headers, text: await response.text() },
          Date.now(),
        );
      saveFile(await response.blob(), `subject-request-${id}.zip`);
    },
  });
}
