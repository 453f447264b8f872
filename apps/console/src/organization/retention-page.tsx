import { useState, type FormEvent, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Failure, Forbidden, Note } from '../ui/notices.tsx';
import { NumberField } from '../ui/number-field.tsx';
import { Section } from '../ui/page.tsx';
import { problemAt } from '../ui/problem-at.ts';
import { KINDS, retentionChange, retentionOf, shortened } from './retention.ts';
import type { OrganizationRow } from './settings.ts';
import { useEdit, type Reading } from './use-edit.tsx';
import { useSettings } from './use-settings.ts';

/** For how long the organization keeps what. */
export function RetentionPage(): ReactNode {
  const may = useMay();
  const { data, error, refetch } = useSettings();
  if (!may('identity.organizations.read')) return <Forbidden permission="identity.organizations.read" />;
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-96" />;
  return <RetentionForm opened={data} />;
}

function RetentionForm({ opened }: { opened: Reading<OrganizationRow> }): ReactNode {
  const t = useTranslations('organization');
  const api = useApi();
  const may = useMay();
  const [before, setBefore] = useState(() => retentionOf(opened.data));
  const [draft, setDraft] = useState(before);
  const params = { path: { id: opened.data.id } };
  const begin = (row: OrganizationRow): void => {
    setBefore(retentionOf(row));
    setDraft(retentionOf(row));
  };
  const change = retentionChange(before, draft);
  const edit = useEdit({
    opened,
    change,
    read: () => api.GET('/v1/identity/organizations/{id}', { params }),
    write: async (body: NonNullable<ReturnType<typeof retentionChange>>, ifMatch) => {
      const written = await api.PATCH('/v1/identity/organizations/{id}', { params, body, ifMatch });
      begin(written.data);
      return written;
    },
    onSaved: () => undefined,
    onTheirs: begin,
    done: t('retention.saved'),
  });
  const less = shortened(before, draft);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    edit.save();
  };
  const mayUpdate = may('identity.organizations.update');
  const mayRemove = may('identity.organizations.purge');
  return (
    <form onSubmit={send} className="flex max-w-3xl flex-col gap-8">
      <Section title={t('retention.title')} lead={t('retention.lead')}>
        <fieldset disabled={!mayUpdate} className="grid gap-4 sm:grid-cols-2">
          {KINDS.map(({ name, field, least, most }) => (
            <NumberField
              key={field}
              label={t(`retention.${name}`)}
              hint={t(`retention.${name}Hint`)}
              min={least}
              max={most}
              placeholder={t('retention.kept')}
              value={draft[field]}
              error={problemAt(edit.error, `/settings/retention/${field}`)}
              onChange={(typed) => setDraft({ ...draft, [field]: typed })}
            />
          ))}
        </fieldset>
        <p className="text-sm text-soft">{t('retention.stays')}</p>
      </Section>
      {less.length > 0 && (
        <Note tone="warn">
          {t('retention.shorter', { what: less.map((name) => t(`retention.${name}`)).join(', ') })}
        </Note>
      )}
      {less.length > 0 && !mayRemove && (
        <Note tone="warn">{t('retention.mayNot', { permission: 'identity.organizations.purge' })}</Note>
      )}
      {edit.shown}
      {mayUpdate && (
        <div>
          <Button
            type="submit"
            look="main"
            busy={edit.busy}
            disabled={change === undefined || (less.length > 0 && !mayRemove)}
          >
            {t('save')}
          </Button>
        </div>
      )}
    </form>
  );
}
