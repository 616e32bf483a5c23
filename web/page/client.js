// Calls the worker. A worker that fails is replaced by a new one, which has no map.
export class Client {
    #worker = null;
    #next = 0;
    #waiting = new Map();
    #onProgress;
    #onLost;

    constructor({ onProgress, onLost }) {
        this.#onProgress = onProgress;
        this.#onLost = onLost;
        this.#start();
    }

    #start() {
        this.#worker = new Worker("worker.js", { type: "module" });
        this.#worker.addEventListener("message", ({ data }) => this.#take(data));
        this.#worker.addEventListener("error", (event) => {
            event.preventDefault();
            this.replace(`the worker stopped: ${event.message || "it cannot be loaded"}`);
        });
    }

    #take({ id, result, error, isFatal, progress }) {
        if (progress) return this.#onProgress(progress);
        const waiting = this.#waiting.get(id);
        if (!waiting) return;
        this.#waiting.delete(id);
        if (error === undefined) return waiting.resolve(result);
        waiting.reject(new Error(isFatal ? `the module stopped: ${error}` : error));
        if (isFatal) this.replace(error);
    }

    // Ends all jobs and begins anew.
    replace(why) {
        this.#worker.terminate();
        const waiting = [...this.#waiting.values()];
        this.#waiting.clear();
        this.#start();
        waiting.forEach(({ reject }) => reject(new Error(why)));
        this.#onLost(why);
    }

    get isBusy() {
        return this.#waiting.size > 0;
    }

    call(job, ...args) {
        const id = this.#next++;
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject });
            this.#worker.postMessage({ id, job, args });
        });
    }
}
