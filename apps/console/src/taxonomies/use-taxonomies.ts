import type { Schemas } from '@customer-platform/client';
import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import { useApi } from '../api/api.tsx';
import { useList, type List } from '../ui/list.ts';
import { useReadAnew } from '../ui/queries.ts';
import { useSay } from '../ui/toasts.tsx';
import type { EnforcementDraft } from './enforcement-draft.ts';

export type Taxonomy = Schemas['TaxonomyDto'];
export type Judgement = NonNullable<Schemas['InstalledTaxonomyDto']['judgement']>;

/** The taxonomies, with what of them is installed. */
export function useTaxonomies(): List<Taxonomy> {
  const api = useApi();
  return useList<Taxonomy>(['taxonomies'], async (cursor, signal) => {
    const params = { query: { cursor } };
    return (await api.GET('/v1/core/taxonomies', { params, signal })).data;
  });
}

/** The result of a draft, with the draft that it was asked for. */
export function useDryRun(id: string) {
  const api = useApi();
  return useMutation({
    mutationFn: async (draft: EnforcementDraft) => {
      const body = { ...draft, dry_run: true };
      const { data } = await api.POST('/v1/core/taxonomies/{id}/install', { params: { path: { id } }, body });
      return { draft, judgement: data.judgement };
    },
  });
}

export function useInstall({ id, slug }: Pick<Taxonomy, 'id' | 'slug'>, onDone: () => void) {
  const t = useTranslations('taxonomies');
  const api = useApi();
  const changed = useReadAnew('taxonomies');
  const say = useSay();
  return useMutation({
    mutationFn: (body: EnforcementDraft) =>
      api.POST('/v1/core/taxonomies/{id}/install', { params: { path: { id } }, body }),
    onSuccess: async (_answer, { mode }) => {
      await changed();
      say(t('installedNow', { slug, mode: t(`modes.${mode}`) }));
      onDone();
    },
  });
}
