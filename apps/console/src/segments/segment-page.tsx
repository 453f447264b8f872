import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Pencil, RotateCcw, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useFormatter, useTranslations } from 'use-intl';
import { useMay, usePerson } from '../session/use-session.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Detail, Details, Id } from '../ui/details.tsx';
import { Confirm } from '../ui/dialog.tsx';
import { Json } from '../ui/json.tsx';
import { Failure, Forbidden, Note } from '../ui/notices.tsx';
import { Page, Section } from '../ui/page.tsx';
import { Time } from '../ui/time.tsx';
import { Explanation } from './explanation.tsx';
import { Members } from './members.tsx';
import { SegmentState } from './segments-page.tsx';
import { useSegment, useSegmentActs, type Segment } from './use-segment.ts';

const segmentRoute = getRouteApi('/o/$organization/segments/$segment');

/** One segment: its rule, why somebody is in it or is not, and who is. */
export function SegmentPage(): ReactNode {
  const t = useTranslations('segments');
  const may = useMay();
  const { segment: id } = segmentRoute.useParams();
  const { data, error, refetch } = useSegment(id);
  if (!may('core.segments.read')) return <Forbidden permission="core.segments.read" />;
  if (data === undefined)
    return (
      <Page title={t('one')}>
        {error === null ? (
          <div aria-busy className="bones h-64" />
        ) : (
          <Failure error={error} again={() => void refetch()} />
        )}
      </Page>
    );
  const { segment } = data;
  return (
    <Page
      title={segment.name}
      lead={segment.description ?? undefined}
      actions={<Actions segment={segment} />}
    >
      <ToList />
      {segment.deleted_at !== null && <Note tone="warn">{t('deletedLead')}</Note>}
      {segment.deleted_at === null && segment.state === 'building' && <Note>{t('buildingLead')}</Note>}
      <Facts segment={segment} />
      <Explanation segment={segment} />
      <Members segment={segment} />
      <Section title={t('json')}>
        <Json value={segment.rule} label={t('json')} />
      </Section>
    </Page>
  );
}

function ToList(): ReactNode {
  const t = useTranslations('segments');
  const { organization } = usePerson();
  return (
    <Link
      to="/o/$organization/segments"
      params={{ organization: organization.slug }}
      className="w-fit text-accent underline"
    >
      {t('toList')}
    </Link>
  );
}

function Facts({ segment }: { segment: Segment }): ReactNode {
  const t = useTranslations('segments');
  const { number } = useFormatter();
  return (
    <Details>
      <Detail name={t('state')}>
        <SegmentState segment={segment} />
      </Detail>
      <Detail name={t('members')}>{number(segment.member_count)}</Detail>
      <Detail name={t('version')}>{segment.rule_version}</Detail>
      <Detail name={t('evaluatedAt')}>
        {segment.evaluated_at === null ? t('never') : <Time at={segment.evaluated_at} />}
      </Detail>
      <Detail name={t('createdAt')}>
        <Time at={segment.created_at} />
      </Detail>
      <Detail name={t('id')}>
        <Id value={segment.id} />
      </Detail>
    </Details>
  );
}

function Actions({ segment }: { segment: Segment }): ReactNode {
  const t = useTranslations('segments');
  const may = useMay();
  const { organization } = usePerson();
  const { remove, restore } = useSegmentActs(segment);
  const deleted = segment.deleted_at !== null;
  const error = remove.error ?? restore.error;
  return (
    <>
      {!deleted && may('core.segments.delete') && (
        <Button busy={remove.isPending} onClick={() => remove.mutate()}>
          <Trash2 aria-hidden className="size-4" />
          {t('delete')}
        </Button>
      )}
      {deleted && may('core.segments.delete') && (
        <Button busy={restore.isPending} onClick={() => restore.mutate()}>
          <RotateCcw aria-hidden className="size-4" />
          {t('restore')}
        </Button>
      )}
      {deleted && may('core.segments.purge') && <Purge segment={segment} />}
      {!deleted && may('core.segments.update') && (
        <ButtonLink
          look="main"
          to="/o/$organization/segments/$segment/edit"
          params={{ organization: organization.slug, segment: segment.id }}
        >
          <Pencil aria-hidden className="size-4" />
          {t('edit')}
        </ButtonLink>
      )}
      {error !== null && <Failure error={error} />}
    </>
  );
}

function Purge({ segment }: { segment: Segment }): ReactNode {
  const t = useTranslations('segments');
  const navigate = useNavigate();
  const { organization } = usePerson();
  const [open, setOpen] = useState(false);
  const { purge } = useSegmentActs(segment);
  const gone = async (): Promise<void> => {
    const params = { organization: organization.slug };
    await navigate({ to: '/o/$organization/segments', params });
  };
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        {t('purge')}
      </Button>
      <Confirm
        open={open}
        onClose={() => setOpen(false)}
        title={t('purgeTitle', { name: segment.name })}
        action={t('purge')}
        danger
        busy={purge.isPending}
        error={purge.error}
        onConfirm={() => purge.mutate(undefined, { onSuccess: () => void gone() })}
      >
        {t('purgeLead')}
      </Confirm>
    </>
  );
}
