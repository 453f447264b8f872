import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Select } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { Enabled, ResourcePanel } from '../ui/resource-panel.tsx';
import { ResourceSteps } from '../ui/resource-steps.tsx';
import { useEditDraft } from '../ui/use-draft.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { bodyOf, draftOf, isWhole, type Rule } from './rule-draft.ts';
import { RuleFacts, RuleState } from './rule-facts.tsx';
import { RuleForm } from './rule-form.tsx';
import { useRule, useRulesChanged, useRuleVersion, useTurnRule } from './use-rules.ts';

/** One rule: what it says, what it said, and the ways to change it. */
export function RulePanel({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useTranslations('loyalty');
  const read = useRule(id);
  return (
    <ResourcePanel
      read={read}
      title={read.data?.data.name ?? t('rule')}
      keptAs={`loyalty-rules/${id}`}
      onClose={onClose}
      shown={(opened, onEdit) => <Opened read={opened} onEdit={onEdit} onGone={onClose} />}
      form={(opened, onDone) => <EditRule opened={opened} onDone={onDone} />}
    />
  );
}

interface OpenedProps {
  read: Reading<Rule>;
  onEdit: () => void;
  onGone: () => void;
}

function Opened({ read, onEdit, onGone }: OpenedProps): ReactNode {
  const t = useTranslations('loyalty');
  const { data: rule } = read;
  return (
    <>
      <Turn read={read} />
      <Steps rule={rule} onEdit={onEdit} onGone={onGone} />
      <Versions key={rule.version} rule={rule} />
      <Details>
        <Detail name={t('id')}>
          <Id value={rule.id} />
        </Detail>
      </Details>
    </>
  );
}

/** Takes effect at once. */
function Turn({ read }: { read: Reading<Rule> }): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  const { data: rule } = read;
  const turn = useTurnRule(rule.id);
  if (rule.deleted_at !== null || !may('loyalty.rules.update'))
    return (
      <div>
        <RuleState rule={rule} />
      </div>
    );
  return <Enabled read={read} label={t(rule.enabled ? 'givesPoints' : 'givesNone')} turn={turn} />;
}

function Versions({ rule }: { rule: Rule }): ReactNode {
  const t = useTranslations('loyalty');
  const [version, setVersion] = useState(rule.version);
  const older = useRuleVersion(rule.id, version, version !== rule.version);
  const shown = version === rule.version ? rule : older.data;
  const all = Array.from({ length: rule.version }, (_, place) => rule.version - place);
  return (
    <Section title={t('content')} lead={t('versionsLead')}>
      {all.length > 1 && (
        <Select
          label={t('version')}
          value={String(version)}
          options={all.map((each) => ({
            value: String(each),
            label: each === rule.version ? t('versionNow', { version: each }) : String(each),
          }))}
          onChange={({ target }) => setVersion(Number(target.value))}
        />
      )}
      {shown === undefined && older.error !== null && (
        <Failure error={older.error} again={() => void older.refetch()} />
      )}
      {shown === undefined && older.error === null && <div aria-busy className="bones h-40" />}
      {shown !== undefined && <RuleFacts rule={shown} />}
    </Section>
  );
}

function Steps({ rule, onEdit, onGone }: { rule: Rule; onEdit: () => void; onGone: () => void }): ReactNode {
  const t = useTranslations('loyalty');
  const may = useMay();
  const api = useApi();
  const changed = useRulesChanged();
  const params = { path: { id: rule.id } };
  const mayDelete = may('loyalty.rules.delete');
  return (
    <>
      {rule.deleted_at === null && !isWhole(rule) && <Note tone="warn">{t('notWhole')}</Note>}
      <ResourceSteps
        name={rule.name}
        deleted={rule.deleted_at !== null}
        onEdit={may('loyalty.rules.update') && isWhole(rule) ? onEdit : undefined}
        remove={mayDelete ? () => api.DELETE('/v1/loyalty/rules/{id}', { params }) : undefined}
        restore={mayDelete ? () => api.POST('/v1/loyalty/rules/{id}/restore', { params }) : undefined}
        purge={
          may('loyalty.rules.purge')
            ? () => api.DELETE('/v1/loyalty/rules/{id}/purge', { params })
            : undefined
        }
        purgeLead={t('purgeLead')}
        changed={changed}
        onGone={onGone}
      />
    </>
  );
}

function EditRule({ opened, onDone }: { opened: Reading<Rule>; onDone: () => void }): ReactNode {
  const t = useTranslations('loyalty');
  const api = useApi();
  const changed = useRulesChanged();
  const params = { path: { id: opened.data.id } };
  const form = useEditDraft({
    keptAs: `loyalty-rules/${opened.data.id}`,
    opened,
    draftOf,
    bodyOf,
    read: () => api.GET('/v1/loyalty/rules/{id}', { params }),
    write: (body, { etag }) => api.PATCH('/v1/loyalty/rules/{id}', { params, body, ifMatch: etag }),
    nameOf: (field) => t(`fields.${field}`),
    said: ({ name, version }) => t('ruleSaved', { name, version }),
    changed,
    onDone,
  });
  return <RuleForm {...form} action={t('saveRule')} />;
}
