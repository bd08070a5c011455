mptrain trian x.yaml
