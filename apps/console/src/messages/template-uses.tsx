import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Section } from '../ui/page.tsx';
import { useSay } from '../ui/toasts.tsx';
import type { Reading } from '../ui/use-edit.tsx';
import { RenewDialog } from './renew-dialog.tsx';
import { isOutdated, isPublished, type Template, type TemplateUse } from './template.ts';
import { ToTemplate } from './template-state.tsx';
import { useTemplatesChanged } from './use-templates.ts';

/** The layouts and partials whose texts stand in the newest version, and whether there are newer ones. */
export function TemplateUses({ read }: { read: Reading<Template> }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const { uses, deleted_at: deletedAt } = read.data;
  const renewable = uses.some(isOutdated) && deletedAt === null && may('messaging.templates.update');
  return (
    <Section title={t('uses')} lead={t('usesLead')} actions={renewable ? <Renew read={read} /> : undefined}>
      <ul className="flex flex-col divide-y divide-line border-y border-line">
        {uses.map((use) => (
          <li key={use.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-3">
            <ToTemplate id={use.id} name={use.name} />
            <Badge>{t(`kinds.${use.kind}`)}</Badge>
            <HeldVersion use={use} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Whose text stands there, and whether another would today. */
export function HeldVersion({ use }: { use: TemplateUse }): ReactNode {
  const t = useTranslations('messages');
  const { version, published_version: published } = use;
  return (
    <>
      <span className="text-soft">{t('holdsVersion', { version })}</span>
      {published === null && <Badge tone="warn">{t('notPublished')}</Badge>}
      {isOutdated(use) && <Badge tone="warn">{t('newerVersion', { version: published ?? 0 })}</Badge>}
    </>
  );
}

function Renew({ read: { data: template, etag } }: { read: Reading<Template> }): ReactNode {
  const t = useTranslations('messages');
  const api = useApi();
  const say = useSay();
  const changed = useTemplatesChanged();
  const [asked, setAsked] = useState(false);
  const renew = useMutation({
    mutationFn: async (publish: boolean) => {
      const params = { path: { id: template.id } };
      const body = { renew_uses: true, publish };
      return (await api.PATCH('/v1/messaging/templates/{id}', { params, body, ifMatch: etag })).data;
    },
    onSuccess: async ({ version }) => {
      await changed();
      setAsked(false);
      say(t('renewed', { version }));
    },
  });
  return (
    <>
      <Button onClick={() => setAsked(true)}>{t('renew')}</Button>
      {asked && (
        <RenewDialog
          title={t('renewTitle')}
          lead={t('renewLead', { version: template.version + 1 })}
          publishLabel={t('renewPublish', { kind: template.kind })}
          mayPublish={isPublished(template)}
          busy={renew.isPending}
          error={renew.error}
          onClose={() => {
            renew.reset();
            setAsked(false);
          }}
          onRenew={(publish) => renew.mutate(publish)}
        />
      )}
    </>
  );
}
