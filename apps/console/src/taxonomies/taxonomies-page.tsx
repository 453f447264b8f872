import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { useAddressBeside } from '../ui/address-beside.ts';
import { DataTable, type Column } from '../ui/data-table.tsx';
import { Empty, Forbidden } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { InstalledState } from './installed-state.tsx';
import { TaxonomyPanel } from './taxonomy-panel.tsx';
import { useTaxonomies, type Taxonomy } from './use-taxonomies.ts';

const taxonomiesRoute = getRouteApi('/o/$organization/developers/taxonomies');

/** What events are called and what they carry, and how strictly that is held. */
export function TaxonomiesPage(): ReactNode {
  const t = useTranslations('taxonomies');
  const may = useMay();
  if (!may('core.taxonomies.read')) return <Forbidden permission="core.taxonomies.read" />;
  return (
    <Section title={t('title')} lead={t('lead')}>
      <Taxonomies />
    </Section>
  );
}

function Taxonomies(): ReactNode {
  const t = useTranslations('taxonomies');
  const addressBeside = useAddressBeside();
  const { open } = taxonomiesRoute.useSearch();
  const navigate = taxonomiesRoute.useNavigate();
  const list = useTaxonomies();
  const show = (slug: string | undefined): void =>
    void navigate({ search: { open: slug }, resetScroll: false });
  const opened = list.items.find(({ slug }) => slug === open);
  return (
    <>
      <DataTable
        label={t('title')}
        list={list}
        columns={useColumns()}
        keyOf={({ slug }) => slug}
        chosen={open}
        onOpen={({ slug }) => show(slug)}
        addressOf={({ slug }) => addressBeside(slug)}
        empty={<Empty title={t('none')} />}
      />
      {opened !== undefined && (
        <TaxonomyPanel key={opened.slug} taxonomy={opened} onClose={() => show(undefined)} />
      )}
    </>
  );
}

function useColumns(): Column<Taxonomy>[] {
  const t = useTranslations('taxonomies');
  return [
    { id: 'slug', header: t('name'), cell: ({ slug }) => <code className="font-mono text-xs">{slug}</code> },
    { id: 'version', header: t('newest'), cell: ({ version }) => version },
    {
      id: 'installed',
      header: t('installed'),
      grow: 2,
      cell: ({ installed }) => <InstalledState installed={installed} />,
    },
    { id: 'events', header: t('events'), end: true, cell: ({ events }) => events.length },
  ];
}
