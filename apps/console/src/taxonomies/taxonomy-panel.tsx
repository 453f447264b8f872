import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { useMay } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { Detail, Details } from '../ui/details.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { Select } from '../ui/form.tsx';
import { Failure, Note } from '../ui/notices.tsx';
import { Section } from '../ui/page.tsx';
import { DescribedEvents } from './described-events.tsx';
import { InstalledState } from './installed-state.tsx';
import { JudgementOf } from './judgement.tsx';
import { useDryRun, useInstall, type Taxonomy } from './use-taxonomies.ts';
import {
  modeOf,
  MODES,
  isSameDraft,
  enforcementDraftOf,
  type EnforcementDraft,
} from './enforcement-draft.ts';

interface PanelProps {
  taxonomy: Taxonomy;
  onClose: () => void;
}

/** One taxonomy: what is installed of it, how it is to be enforced, and its events. */
export function TaxonomyPanel({ taxonomy, onClose }: PanelProps): ReactNode {
  const t = useTranslations('taxonomies');
  const may = useMay();
  const [draft, setDraft] = useState(() => enforcementDraftOf(taxonomy.installed));
  const mayInstall = may('core.taxonomies.install');
  return (
    <Dialog open onClose={onClose} place="side" title={taxonomy.slug} lead={t(`leads.${leadOf(taxonomy)}`)}>
      <Details>
        <Detail name={t('newest')}>{taxonomy.version}</Detail>
        <Detail name={t('installed')}>
          <InstalledState installed={taxonomy.installed} />
        </Detail>
      </Details>
      {isOutdated(taxonomy) && <Note tone="warn">{t('newerVersion', { version: taxonomy.version })}</Note>}
      {mayInstall && <Enforcing taxonomy={taxonomy} draft={draft} onChange={setDraft} onDone={onClose} />}
      <Section title={t('events')} lead={t('eventsLead')}>
        <DescribedEvents taxonomy={taxonomy} draft={draft} onChange={mayInstall ? setDraft : undefined} />
      </Section>
    </Dialog>
  );
}

const KNOWN = ['billing', 'ecommerce', 'saas'] as const;

function leadOf({ slug }: Taxonomy): (typeof KNOWN)[number] | 'other' {
  return KNOWN.find((known) => known === slug) ?? 'other';
}

function isOutdated({ version, installed }: Taxonomy): boolean {
  return installed !== null && installed.version !== version;
}

interface EnforcingProps {
  taxonomy: Taxonomy;
  draft: EnforcementDraft;
  onChange: (draft: EnforcementDraft) => void;
  onDone: () => void;
}

/** It is tried on stored events before it is installed. */
function Enforcing({ taxonomy, draft, onChange, onDone }: EnforcingProps): ReactNode {
  const t = useTranslations('taxonomies');
  const dryRun = useDryRun(taxonomy.id);
  const install = useInstall(taxonomy, onDone);
  const tried = dryRun.data !== undefined && isSameDraft(dryRun.data.draft, draft) ? dryRun.data : undefined;
  const isInstalled =
    taxonomy.installed !== null &&
    !isOutdated(taxonomy) &&
    isSameDraft(enforcementDraftOf(taxonomy.installed), draft);
  const error = dryRun.error ?? install.error;
  return (
    <Section title={t('enforcing')}>
      <Select
        label={t('mode')}
        hint={t(`modeHints.${draft.mode}`)}
        value={draft.mode}
        options={MODES.map((value) => ({ value, label: t(`modes.${value}`) }))}
        onChange={({ target }) => onChange({ ...draft, mode: modeOf(target.value) ?? draft.mode })}
      />
      {tried !== undefined && <JudgementOf judgement={tried.judgement} />}
      {error !== null && <Failure error={error} />}
      {isInstalled && <p className="text-soft">{t('asInstalled')}</p>}
      <DialogActions>
        <Button
          look={tried === undefined && !isInstalled ? 'main' : 'plain'}
          busy={dryRun.isPending}
          onClick={() => dryRun.mutate(draft)}
        >
          {t('tryOut')}
        </Button>
        {tried !== undefined && !isInstalled && (
          <Button look="main" busy={install.isPending} onClick={() => install.mutate(draft)}>
            {t(isOutdated(taxonomy) ? 'upgrade' : 'install')}
          </Button>
        )}
      </DialogActions>
    </Section>
  );
}
