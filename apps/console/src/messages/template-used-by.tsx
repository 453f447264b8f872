import type { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { useList } from '../ui/list.ts';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { renewEach, type Renewal } from './renew-all.ts';
import { RenewDialog } from './renew-dialog.tsx';
import { mayHoldOlder, toRenew, type Template } from './template.ts';
import { Published, ToTemplate } from './template-state.tsx';
import { HeldVersion } from './template-uses.tsx';
import { useTemplatesChanged } from './use-templates.ts';
import { EnglishDetail, FaultText, useReasonOf } from '../ui/problem-words.tsx';

const SHOWN = 50;
const READ_AT_ONCE = 200;

/** The templates that hold a layout or partial, and which of them hold an older text of it. */
export function TemplateUsedBy({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const may = useMay();
  const api = useApi();
  const { id } = template;
  const list = useList<Template>(['messages', 'templates', 'using', id], async (cursor, signal) => {
    const query = { uses: id, sort: 'name', limit: SHOWN, cursor };
    return (await api.GET('/v1/messaging/templates', { params: { query }, signal })).data;
  });
  const offered = mayHoldOlder(list, id) && may('messaging.templates.update');
  return (
    <Section
      title={t('usedBy')}
      lead={t('usedByLead')}
      actions={<RenewAll template={template} offered={offered} />}
    >
      {list.error !== null && <Failure error={list.error} again={list.again} />}
      {list.loading && <div aria-busy className="bones h-24" />}
      {!list.loading && list.error === null && list.items.length === 0 && (
        <p className="text-soft">{t(`unused.${template.kind}`)}</p>
      )}
      {list.items.length > 0 && (
        <ul className="flex flex-col divide-y divide-line border-y border-line">
          {list.items.map((user) => (
            <User key={user.id} user={user} id={id} />
          ))}
        </ul>
      )}
      {list.hasMore && (
        <div>
          <Button busy={list.loadingMore} onClick={list.more}>
            {t('moreUsers')}
          </Button>
        </div>
      )}
    </Section>
  );
}

function User({ user, id }: { user: Template; id: string }): ReactNode {
  const t = useTranslations('messages');
  const use = user.uses.find((each) => each.id === id);
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-3">
      <ToTemplate id={user.id} name={user.name} />
      <Badge>{t(`kinds.${user.kind}`)}</Badge>
      <Published template={user} />
      {use === undefined ? <span className="text-soft">{t('heldBefore')}</span> : <HeldVersion use={use} />}
    </li>
  );
}

interface RenewAllProps {
  template: Template;
  offered: boolean;
}

/** Stays while it runs, even where nothing is left to offer. */
function RenewAll({ template, offered }: RenewAllProps): ReactNode {
  const t = useTranslations('messages');
  const [asked, setAsked] = useState(false);
  return (
    <>
      {offered && <Button onClick={() => setAsked(true)}>{t('renewAll')}</Button>}
      {asked && <RenewingAll template={template} onClose={() => setAsked(false)} />}
    </>
  );
}

/** Each time it is opened it begins anew; closed, it ends. */
function RenewingAll({ template, onClose }: { template: Template; onClose: () => void }): ReactNode {
  const t = useTranslations('messages');
  const say = useSay();
  const [renewal, setRenewal] = useState<Renewal>();
  const renew = useRenewAll(template, setRenewal, ({ of, refused }) => {
    if (refused.length > 0) return;
    onClose();
    say(t('renewedAll', { count: of }));
  });
  return (
    <RenewDialog
      title={t('renewAllTitle', { name: template.name })}
      lead={t('renewAllLead', { version: template.published_version ?? 0 })}
      publishLabel={t('renewAllPublish')}
      mayPublish
      busy={renew.isPending}
      error={renew.error}
      onClose={onClose}
      onRenew={(publish) => renew.mutate(publish)}
    >
      {renewal !== undefined && <HowFar renewal={renewal} />}
    </RenewDialog>
  );
}

/** Says why one was not renewed: what is wrong inside of it, where the API says so. */
function Refusal({ error }: { error: ProblemError }): ReactNode {
  const reasonOf = useReasonOf();
  const [first] = error.errors;
  return first === undefined ? (
    <>
      {reasonOf(error)} <EnglishDetail detail={error.detail} />
    </>
  ) : (
    <FaultText fault={{ code: first.code, detail: first.detail }} />
  );
}

function HowFar({ renewal: { done, of, refused } }: { renewal: Renewal }): ReactNode {
  const t = useTranslations('messages');
  return (
    <div className="flex flex-col gap-2">
      <progress className="w-full accent-accent" aria-label={t('renewAll')} value={done} max={of} />
      <p role="status" className="text-soft">
        {t('renewedOf', { done, of })}
      </p>
      {refused.length > 0 && (
        <ul className="flex flex-col gap-1 rounded-panel bg-bad-soft px-4 py-3 text-bad">
          {refused.map(({ id, name, error }) => (
            <li key={id}>
              <bdi className="font-medium">{name}</bdi> <Refusal error={error} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Partials first: what holds them finds them renewed. It ends with the page, or the dialog, that it is shown in. */
function useRenewAll({ id }: Template, tell: (renewal: Renewal) => void, ended: (renewal: Renewal) => void) {
  const api = useApi();
  const changed = useTemplatesChanged();
  const ending = useRef<AbortController>(undefined);
  useEffect(() => () => ending.current?.abort(), []);
  return useMutation({
    mutationFn: async (publish: boolean): Promise<Renewal> => {
      const { signal } = (ending.current = new AbortController());
      const query = { uses: id, limit: READ_AT_ONCE };
      const users: Template[] = [];
      for await (const { data } of api.pages('/v1/messaging/templates', { params: { query }, signal }))
        users.push(...data);
      const read = (user: string) =>
        api.GET('/v1/messaging/templates/{id}', { params: { path: { id: user } }, signal });
      const renew = (user: string, publishes: boolean, ifMatch?: string) => {
        const body = { renew_uses: true, publish: publishes };
        const params = { path: { id: user } };
        return api.PATCH('/v1/messaging/templates/{id}', { params, body, ifMatch, signal });
      };
      return renewEach(toRenew(users, id), publish, { read, renew }, signal, tell);
    },
    // Where nothing is left to renew, what asked for it is gone after that.
    onSuccess: ended,
    onSettled: changed,
  });
}
