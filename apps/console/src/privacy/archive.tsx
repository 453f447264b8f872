import { Download } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFormatter, useNow, useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { DOWNLOADS_NEED, isKept, type SubjectRequest } from './subject-request.ts';
import { useDownload } from './use-download.ts';

/** The file to hand over, and how to know that it is the one that was made. */
export function Archive({ request }: { request: SubjectRequest }): ReactNode {
  const t = useTranslations('privacy');
  const { number } = useFormatter();
  const now = useNow();
  const may = useMay();
  const download = useDownload(request.id);
  const { result } = request;
  if (result === null) return null;
  return (
    <Section title={t('archive')} lead={t('archiveLead')}>
      <Details>
        <Detail name={t('size')}>
          {number(result.bytes, { style: 'unit', unit: 'byte', unitDisplay: 'long' })}
        </Detail>
        <Detail name={t('archiveUntil')}>
          <Time at={result.expires_at} />
        </Detail>
        <Detail name="SHA-256">
          <Id value={result.sha256} />
        </Detail>
      </Details>
      {download.error !== null && <Failure error={download.error} />}
      {isKept(result, now) && !DOWNLOADS_NEED.every(may) && (
        <p className="text-soft">{t('downloadBy', { permissions: DOWNLOADS_NEED.join(', ') })}</p>
      )}
      {isKept(result, now) && DOWNLOADS_NEED.every(may) && (
        <div>
          <Button look="main" busy={download.isPending} onClick={() => download.mutate()}>
            <Download aria-hidden className="size-4" />
            {t('download')}
          </Button>
        </div>
      )}
    </Section>
  );
}
