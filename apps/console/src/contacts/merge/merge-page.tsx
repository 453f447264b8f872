import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ArrowLeftRight } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useNameOf } from '../../people/person.tsx';
import { useMay } from '../../session/use-session.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/form.tsx';
import { Failure, Forbidden, Note } from '../../ui/notices.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { isConflict } from '../use-change.ts';
import { ChooseContact } from '../../people/choose-contact.tsx';
import { Comparison, ComparedConsents } from './comparison.tsx';
import { useMerge, usePreview, type Keep, type Preview } from './use-merge.ts';

const FROM = '/o/$organization/contacts/merge' as const;

/** Two contacts that are one person become one: what would be kept is shown before anything is written. */
export function MergePage(): ReactNode {
  const t = useTranslations('contacts');
  const may = useMay();
  const { survivor, merged } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  if (!may('core.contacts.merge')) return <Forbidden permission="core.contacts.merge" />;
  const choose = (id: string): void => {
    const search = survivor === undefined ? { survivor: id } : { survivor, merged: id };
    void navigate({ search });
  };
  return (
    <Page title={t('merge.title')} lead={t('merge.lead')}>
      {survivor === undefined || merged === undefined ? (
        <Section title={survivor === undefined ? t('merge.chooseSurvivor') : t('merge.chooseOther')}>
          <ChooseContact except={survivor} onChoose={choose} />
        </Section>
      ) : (
        <Previewed survivor={survivor} merged={merged} key={`${survivor} ${merged}`} />
      )}
    </Page>
  );
}

function Previewed({ survivor, merged }: { survivor: string; merged: string }): ReactNode {
  const t = useTranslations('contacts');
  const navigate = useNavigate({ from: FROM });
  const nameOf = useNameOf();
  const [keep, setKeep] = useState<Keep>({});
  const { data, error, refetch, isFetching } = usePreview(survivor, merged, keep);
  if (data === undefined)
    return error === null ? (
      <div aria-busy className="bones h-64" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  const { preview } = data;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <p>
          {t.rich('merge.stays', {
            name: nameOf(preview.contact).slice(0, 120),
            strong: (words) => <strong dir="auto">{words}</strong>,
          })}
        </p>
        <Button onClick={() => void navigate({ search: { survivor: merged, merged: survivor } })}>
          <ArrowLeftRight aria-hidden className="size-4" />
          {t('merge.swap')}
        </Button>
      </div>
      {error !== null && <Failure error={error} again={() => void refetch()} />}
      <Section title={t('merge.fields')} lead={t('merge.fieldsLead')}>
        <Comparison fields={preview.fields} onKeep={(field, side) => setKeep({ ...keep, [field]: side })} />
      </Section>
      {preview.consents.length > 0 && (
        <Section title={t('merge.consents')} lead={t('merge.consentsLead')}>
          <ComparedConsents consents={preview.consents} />
        </Section>
      )}
      <Note>{t('merge.moved', { ...preview.moved })}</Note>
      <Finish data={data} keep={keep} stale={isFetching} again={() => void refetch()} />
    </>
  );
}

interface FinishProps {
  data: Preview;
  keep: Keep;
  stale: boolean;
  again: () => void;
}

function Finish({ data, keep, stale, again }: FinishProps): ReactNode {
  const t = useTranslations('contacts');
  const { organization } = useParams({ from: FROM });
  const [reason, setReason] = useState('');
  const merge = useMerge(organization);
  const { preview } = data;
  const changed = isConflict(merge.error);
  return (
    <div className="flex max-w-xl flex-col gap-4">
      {preview.blockers.length > 0 && (
        <Note tone="warn">
          <p>{t('merge.blocked')}</p>
          <ul className="mt-1 list-disc pl-5">
            {preview.blockers.map(({ code, field }) => (
              <li key={`${code} ${field ?? ''}`}>
                {t.has(`merge.blockers.${code}` as 'merge.blockers.limit_reached')
                  ? t(`merge.blockers.${code}` as 'merge.blockers.limit_reached')
                  : code}
                {field !== null && <> ({field})</>}
              </li>
            ))}
          </ul>
        </Note>
      )}
      <TextField
        label={t('merge.reason')}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {changed && (
        <Note tone="warn">
          <p className="mb-2">{t('merge.changed')}</p>
          <Button
            onClick={() => {
              merge.reset();
              again();
            }}
          >
            {t('merge.lookAgain')}
          </Button>
        </Note>
      )}
      {merge.error !== null && !changed && <Failure error={merge.error} />}
      <div>
        <Button
          look="main"
          busy={merge.isPending}
          disabled={stale || preview.blockers.length > 0}
          onClick={() => merge.mutate({ ...data, keep, reason })}
        >
          {t('merge.do')}
        </Button>
      </div>
    </div>
  );
}
