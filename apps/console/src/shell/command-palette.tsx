import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useDeferredValue, useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useMay, usePerson } from '../session/use-session.tsx';
import { useOwnQuery } from '../ui/queries.ts';
import { menuFor } from './menu.ts';

interface Found {
  id: string;
  label: string;
  hint?: string;
  to: string;
}

const PEOPLE_SHOWN = 8;

/** Finds pages, and contacts by any identifier. */
export function CommandPalette({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const t = useTranslations('shell');
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const pages = usePages(typed);
  const people = usePeople(useDeferredValue(typed.trim()));
  const close = (): void => {
    setTyped('');
    onClose();
  };
  const go = (to: string): void => {
    close();
    void navigate({ to });
  };
  return (
    <Dialog.Root open={open} onOpenChange={(next) => !next && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup
          aria-label={t('search')}
          className="fixed top-[12vh] left-1/2 z-50 w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 rounded-panel border border-line bg-raised shadow-xl"
        >
          <Autocomplete.Root
            open
            inline
            items={[...pages, ...people]}
            filter={null}
            itemToStringValue={({ label }: Found) => label}
            autoHighlight="always"
            value={typed}
            onValueChange={(value, { reason }) => reason !== 'item-press' && setTyped(value)}
          >
            <Autocomplete.Input
              aria-label={t('search')}
              placeholder={t('searchHint')}
              className="w-full border-b border-line bg-transparent px-4 py-3 text-base outline-none"
            />
            <Autocomplete.Empty className="px-4 empty:hidden">
              <p className="py-4 text-soft">{t('nothingFound')}</p>
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1 empty:hidden">
              {(found: Found) => (
                <Autocomplete.Item
                  key={found.id}
                  value={found}
                  onClick={() => go(found.to)}
                  className="flex min-h-9 items-center gap-3 rounded-control px-3 outline-none data-highlighted:bg-hover"
                >
                  <span className="truncate">{found.label}</span>
                  <span className="truncate text-xs text-soft">{found.hint}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function usePages(typed: string): Found[] {
  const t = useTranslations('shell');
  const may = useMay();
  const { organization = '' } = useParams({ strict: false });
  const wanted = plain(typed.trim());
  return menuFor(may)
    .map(({ to, name }) => ({
      id: `page ${to}`,
      label: t(`menu.${name}`),
      hint: t('page'),
      to: to.replace('$organization', organization),
    }))
    .filter(({ label }) => plain(label).includes(wanted));
}

/** Contacts whose name, address, phone or external id begins so. */
function usePeople(typed: string): Found[] {
  const api = useApi();
  const may = useMay();
  const { organization } = usePerson();
  const { data } = useOwnQuery({
    queryKey: ['palette', typed],
    enabled: typed.length >= 2 && may('core.contacts.read'),
    queryFn: async ({ signal }) => {
      const query = { q: typed, limit: PEOPLE_SHOWN };
      return (await api.GET('/v1/core/contacts', { params: { query }, signal })).data;
    },
  });
  return (data?.data ?? []).map(({ id, first_name, last_name, email, external_id }) => {
    const name = [first_name, last_name].filter(Boolean).join(' ');
    const other = email ?? external_id ?? id;
    const label = name === '' ? other : name;
    return { id, label, hint: name === '' ? undefined : other, to: `/o/${organization.slug}/contacts/${id}` };
  });
}

/** Without case and accents. */
function plain(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
