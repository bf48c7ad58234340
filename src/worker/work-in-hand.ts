/** What a driver has begun: work whose intent it recorded itself, and the jobs that run for it. */
import { isSameWork, type Work } from '../session/next.ts';

/** In hand until its news is in the log: were it forgotten earlier, the same work would be begun again. */
export type Job = { readonly work: Work; readonly abort: AbortController };

export class WorkInHand {
  #jobs: readonly Job[] = [];
  #begun: readonly Work[] = [];

  get jobs(): readonly Job[] {
    return this.#jobs;
  }

  /** What the jobs are for. */
  get works(): readonly Work[] {
    return this.#jobs.map(({ work }) => work);
  }

  /** The intent is about to be recorded. */
  begin(work: Work): void {
    this.#begun = [...this.#begun, work];
  }

  hasBegun(work: Work): boolean {
    return this.#begun.some((one) => isSameWork(one, work));
  }

  isRunning(work: Work): boolean {
    return this.#jobs.some((job) => isSameWork(job.work, work));
  }

  run(work: Work): Job {
    const job = { work, abort: new AbortController() };
    this.#jobs = [...this.#jobs, job];
    return job;
  }

  /** Nothing came of it, or its news is in the log. False where it was forgotten before. */
  forget(job: Job): boolean {
    const left = this.#jobs.filter((one) => one !== job);
    const isKnown = left.length < this.#jobs.length;
    this.#jobs = left;
    return isKnown;
  }

  /** Its news is in the log: it would be begun anew. False where its job was forgotten before. */
  end(job: Job): boolean {
    this.#begun = this.#begun.filter((work) => !isSameWork(work, job.work));
    return this.forget(job);
  }
}
