import { ProblemError } from '@customer-platform/client';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { usePerson } from '../session/use-session.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failure } from '../ui/notices.tsx';
import { CodeForm } from './code-form.tsx';
import { useFactors } from './use-factors.ts';

interface StepUp {
  /** Does something; where that takes a second factor given lately, asks for one and does it again. */
  around: <Answer>(action: () => Promise<Answer>) => Promise<Answer>;
  /** To be shown on the page. */
  dialog: ReactNode;
}

interface Asked {
  given: () => void;
  cancelled: () => void;
}

/** For what is refused with `mfa_required` until somebody has given a second factor within the last ten minutes. */
export function useStepUp(): StepUp {
  const [asked, setAsked] = useState<Asked>();
  const around: StepUp['around'] = async (action) => {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ProblemError) || error.code !== 'mfa_required') throw error;
      await new Promise<void>((given, refused) =>
        setAsked({ given, cancelled: () => refused(error) }),
      ).finally(() => setAsked(undefined));
      return action();
    }
  };
  return { around, dialog: <StepUpDialog asked={asked} /> };
}

function StepUpDialog({ asked }: { asked: Asked | undefined }): ReactNode {
  const t = useTranslations('account');
  return (
    <Dialog
      open={asked !== undefined}
      onClose={() => asked?.cancelled()}
      title={t('stepUp')}
      lead={t('stepUpLead')}
    >
      {asked !== undefined && <OwnCode onVerified={asked.given} />}
    </Dialog>
  );
}

function OwnCode({ onVerified }: { onVerified: () => void }): ReactNode {
  const t = useTranslations('account');
  const { organization } = usePerson();
  const { data, error, refetch } = useFactors();
  if (error !== null && data === undefined) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <div aria-busy className="bones h-24" />;
  if (data.factors.length > 0) return <CodeForm factors={data.factors} onVerified={onVerified} />;
  return (
    <p>
      {t('stepUpWithout')}{' '}
      <Link
        to="/o/$organization/account"
        params={{ organization: organization.slug }}
        className="text-accent underline"
      >
        {t('toAccount')}
      </Link>
    </p>
  );
}
