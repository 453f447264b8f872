import { ProblemError } from '@customer-platform/client';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useTranslations } from 'use-intl';
import { usePerson, useSession } from '../session/use-session.tsx';
import { Button } from '../ui/button.tsx';
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

const CODES = new Set<string>(['mfa_required', 'fresh_sign_in_required']);

interface Asked {
  code: string;
  given: () => void;
  cancelled: () => void;
}

/**
 * Serves what is refused with `mfa_required` until somebody has given a second factor within the last ten minutes, or with
 * `fresh_sign_in_required` until they have signed in within them.
 */
export function useStepUp(): StepUp {
  const [asked, setAsked] = useState<Asked>();
  const around: StepUp['around'] = async (action) => {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ProblemError) || !CODES.has(error.code)) throw error;
      const { code } = error;
      await new Promise<void>((given, refused) =>
        setAsked({ code, given, cancelled: () => refused(error) }),
      ).finally(() => setAsked(undefined));
      return action();
    }
  };
  return { around, dialog: <StepUpDialog asked={asked} /> };
}

function StepUpDialog({ asked }: { asked: Asked | undefined }): ReactNode {
  const t = useTranslations('account');
  const isAnew = asked?.code === 'fresh_sign_in_required';
  return (
    <Dialog
      open={asked !== undefined}
      onClose={() => asked?.cancelled()}
      title={isAnew ? t('anewSignIn') : t('stepUp')}
      lead={isAnew ? t('anewSignInLead') : t('stepUpLead')}
    >
      {asked !== undefined && (isAnew ? <SignInAnew /> : <OwnCode onVerified={asked.given} />)}
    </Dialog>
  );
}

/** Leaves for the provider's pages, and comes back to this one. */
function SignInAnew(): ReactNode {
  const t = useTranslations('account');
  const own = useSession();
  return (
    <Button look="main" onClick={() => void own.signInAnew()}>
      {t('anewSignIn')}
    </Button>
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
