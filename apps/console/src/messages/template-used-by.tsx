import { ProblemError } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay } from '../session/use-session.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { useList } from '../ui/list.ts';
import { Failure } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { useSay } from '../ui/toasts.tsx';
import { RenewDialog } from './renew-dialog.tsx';
import { isPublished, toRenew, type Template } from './template.ts';
import { Published, ToTemplate } from './template-state.tsx';
import { HeldVersion } from './template-uses.tsx';
import { useTemplatesChanged } from './use-templates.ts';

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
  const renewable = toRenew(list.items, id).length > 0 && may('messaging.templates.update');
  return (
    <Section
      title={t('usedBy')}
      lead={t('usedByLead')}
      actions={renewable ? <RenewAll template={template} /> : undefined}
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

interface Progress {
  done: number;
  of: number;
  refused: readonly { name: string; id: string; why: string }[];
}

function RenewAll({ template }: { template: Template }): ReactNode {
  const t = useTranslations('messages');
  const say = useSay();
  const [asked, setAsked] = useState(false);
  const [progress, setProgress] = useState<Progress>();
  const renew = useRenewAll(template, { said: setProgress, ended: (progress) => ended(progress) });
  const show = (shown: boolean): void => {
    renew.reset();
    setProgress(undefined);
    setAsked(shown);
  };
  const ended = ({ of, refused }: Progress): void => {
    if (refused.length > 0) return;
    show(false);
    say(t('renewedAll', { count: of }));
  };
  return (
    <>
      <Button onClick={() => show(true)}>{t('renewAll')}</Button>
      <RenewDialog
        open={asked}
        title={t('renewAllTitle', { name: template.name })}
        lead={t('renewAllLead', { version: template.published_version ?? 0 })}
        publishLabel={t('renewAllPublish')}
        mayPublish
        busy={renew.isPending}
        error={renew.error}
        onClose={() => show(false)}
        onRenew={(publish) => renew.mutate(publish)}
      >
        {progress !== undefined && <Renewing progress={progress} />}
      </RenewDialog>
    </>
  );
}

function Renewing({ progress: { done, of, refused } }: { progress: Progress }): ReactNode {
  const t = useTranslations('messages');
  return (
    <div className="flex flex-col gap-2">
      <progress className="w-full accent-accent" aria-label={t('renewAll')} value={done} max={of} />
      <p role="status" className="text-soft">
        {t('renewedOf', { done, of })}
      </p>
      {refused.length > 0 && (
        <ul className="flex flex-col gap-1 rounded-panel bg-bad-soft px-4 py-3 text-bad">
          {refused.map(({ id, name, why }) => (
            <li key={id}>
              <bdi className="font-medium">{name}</bdi> {why}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** One after the other, partials first: what holds them finds them renewed. */
function useRenewAll(
  { id }: Template,
  { said, ended }: Record<'said' | 'ended', (progress: Progress) => void>,
) {
  const api = useApi();
  const changed = useTemplatesChanged();
  const users = async (): Promise<Template[]> => {
    const found: Template[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const query = { uses: id, limit: READ_AT_ONCE, cursor };
      const { data } = await api.GET('/v1/messaging/templates', { params: { query } });
      found.push(...data.data);
      cursor = data.page.next_cursor ?? undefined;
    }
    return found;
  };
  return useMutation({
    mutationFn: async (publish: boolean): Promise<Progress> => {
      const outdated = toRenew(await users(), id);
      const refused: Progress['refused'][number][] = [];
      for (const [done, user] of outdated.entries()) {
        said({ done, of: outdated.length, refused: [...refused] });
        const params = { path: { id: user.id } };
        const body = { renew_uses: true, publish: publish && isPublished(user) };
        try {
          await api.PATCH('/v1/messaging/templates/{id}', { params, body });
        } catch (error) {
          if (!(error instanceof ProblemError)) throw error;
          refused.push({ id: user.id, name: user.name, why: reasonOf(error) });
        }
      }
      const all = { done: outdated.length, of: outdated.length, refused };
      said(all);
      return all;
    },
    // Where nothing is left to renew, what asked for it is gone after that.
    onSuccess: ended,
    onSettled: changed,
  });
}

function reasonOf({ title, detail, errors }: ProblemError): string {
  return errors[0]?.detail ?? detail ?? title;
}
